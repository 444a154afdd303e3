/* pure.c: instructions without effects. */
#include "cfg.h"

bool ptx_is_pure(const struct ptx_inst *inst) {
    switch (inst->op) {
    case PTX_ABS:
    case PTX_ADD:
    case PTX_AND:
    case PTX_BFE:
    case PTX_BFI:
    case PTX_BFIND:
    case PTX_BMSK:
    case PTX_BREV:
    case PTX_CLZ:
    case PTX_CNOT:
    case PTX_COPYSIGN:
    case PTX_COS:
    case PTX_CVT:
    case PTX_CVTA:
    case PTX_DIV:
    case PTX_DP2A:
    case PTX_DP4A:
    case PTX_EX2:
    case PTX_FMA:
    case PTX_FNS:
    case PTX_ISSPACEP:
    case PTX_LG2:
    case PTX_LOP3:
    case PTX_MAD:
    case PTX_MAD24:
    case PTX_MAX:
    case PTX_MIN:
    case PTX_MUL:
    case PTX_MUL24:
    case PTX_NEG:
    case PTX_NOT:
    case PTX_OR:
    case PTX_POPC:
    case PTX_PRMT:
    case PTX_RCP:
    case PTX_REM:
    case PTX_RSQRT:
    case PTX_SAD:
    case PTX_SELP:
    case PTX_SET:
    case PTX_SETP:
    case PTX_SHF:
    case PTX_SHL:
    case PTX_SHR:
    case PTX_SIN:
    case PTX_SLCT:
    case PTX_SQRT:
    case PTX_SUB:
    case PTX_SZEXT:
    case PTX_TANH:
    case PTX_TESTP:
    case PTX_XOR:
        return !(inst->mods & PTX_M_CC);
    case PTX_MOV:
        return inst->opnd[1].kind != PTX_O_SREG || inst->opnd[1].sreg < PTX_SR_CLOCK ||
               inst->opnd[1].sreg > PTX_SR_GLOBALTIMER_HI;
    default:
        return false;
    }
}
