/* warpwatt disasm: a listing of machine code with its control fields. */
#include "../warpwatt.h"
#include "cmd.h"

static enum ww_code run(const struct cmd_line *line, struct ww_error *error) {
    struct ww_disasm_options o = {.kernel = ww_cmd_get(line, "kernel"),
                                  .arch = ww_cmd_get(line, "arch"),
                                  .ptxas_options = ww_cmd_get(line, "ptxas-options"),
                                  .raw = ww_cmd_has(line, "raw"),
                                  .bits = ww_cmd_has(line, "bits"),
                                  .json = ww_cmd_has(line, "json")};
    return ww_disasm(line->argument[0], &o, stdout, error);
}

static const struct cmd_option options[] = {
    {"kernel", 'k', "NAME", "only the kernel or function of this name, as it is in the file", 0},
    {"arch", 'a', "ARCH", "only code of this architecture (sm_86); for PTX, what to compile for", 0},
    {"bits", 0, NULL, "print the 128 bits of each instruction too", 0},
    {"raw", 0, NULL, "FILE holds instructions and nothing else; needs --arch", 0},
    {"ptxas-options", 0, "OPTIONS", "further options of ptxas, for PTX", 0},
    {"json", 0, NULL, "print JSON", 0},
    {0}};
const struct cmd ww_cmd_disasm = {
    .arguments = "FILE",
    .min_arguments = 1,
    .max_arguments = 1,
    .about = "FILE is a cubin, a fat binary, a program, library or object that nvcc made, or PTX, which\n"
             "ptxas compiles for --arch. Each line has the offset, the control fields (scoreboards to\n"
             "wait for, those that reading and writing count on, yield, stall cycles) and the text as\n"
             "NVIDIA's disassembler writes it. Code of sm_70 and later. docs/reference/disasm.md explains the "
             "fields.\n",
    .examples = "warpwatt disasm saxpy.cubin\n"
                "warpwatt disasm program --arch sm_86 --kernel saxpy\n"
                "warpwatt disasm kernel.ptx --arch sm_80 --json\n",
    .options = options,
    .run = run,
};
