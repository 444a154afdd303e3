/* l1_tag.h: what the 32 bits of a request's tag mean to the SM. */
#ifndef WW_CORE_L1_TAG_H
#define WW_CORE_L1_TAG_H

#define WW_TAG_KIND 0xc0000000u
#define WW_TAG_MSHR 0u             /* + MSHR number of the L1 */
#define WW_TAG_TARGET 0x40000000u  /* + target number: a request with no MSHR */
#define WW_TAG_DMA 0x20000000u     /* with WW_TAG_TARGET, + MSHR number: of a bulk transfer */
#define WW_TAG_TMA 0x10000000u     /* with WW_TAG_TARGET, + job of the engine of bulk copies */
#define WW_TAG_PEER 0x08000000u    /* with WW_TAG_TARGET, + operation: of another SM's shared memory */
#define WW_TAG_CLUSTER 0x10000000u /* with WW_TAG_TEX, + slot of a CTA: the barrier of its cluster */
#define WW_TAG_EVENT 0x08000000u   /* with both, + slot + 16-byte units of data << 6: an event at an mbarrier */
#define WW_TAG_ACK 0x80000000u     /* + warp + generation << 6: only fences wait for it */
#define WW_TAG_TEX 0xc0000000u     /* + MSHR number of the texture cache */
#define WW_TAG_FETCH 0x20000000u   /* with WW_TAG_TEX, + MSHR number: of the prefetch cache */
#define WW_TAG_GENERATION 0xffffffu

#endif
