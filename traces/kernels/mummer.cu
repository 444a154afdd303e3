/* mummer: for each position of each query, the longest piece from there on that occurs in the reference, by a
 * walk through the reference's suffix tree. Node v is 8 words at tree[8 v]: its children by base (0: none),
 * where the text of the edge above it starts and ends in the reference, its suffix link. Node 0 is the root.
 * The reference ends in a mark that no query holds, so that a walk never reaches the end of a leaf's edge. */
#include "ww_device.h"

#define NODE 8
#define EDGE_START 4
#define EDGE_END 5
#define LINK 6

/* A thread per query. v is the deepest node wholly on the match, `depth` its distance from the root, `end`
 * where the match ends in the query. The next position starts from v's suffix link; what lay below v is walked
 * again edge by edge, without comparing (E. M. McCreight, 1976). */
extern "C" __global__ void mummer_match(const unsigned *__restrict__ tree,
                                        const unsigned char *__restrict__ reference,
                                        const unsigned char *__restrict__ query, unsigned *__restrict__ match,
                                        unsigned queries, unsigned length) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= queries) return;
    const unsigned char *q = query + i * length;
    unsigned *out = match + i * length;
    unsigned v = 0, depth = 0, end = 0;
#pragma unroll 1
    for (unsigned first = 0; first < length; first++) {
#pragma unroll 1
        while (first + depth < length) {
            unsigned below = end - (first + depth);
            unsigned child = tree[v * NODE + q[first + depth]];
            if (child == 0) break;
            unsigned start = tree[child * NODE + EDGE_START];
            unsigned edge = tree[child * NODE + EDGE_END] - start;
#pragma unroll 1
            while (below < edge && end < length && reference[start + below] == q[end]) {
                below++;
                end++;
            }
            if (below < edge) break;
            v = child;
            depth += edge;
        }
        out[first] = end - first;
        if (v != 0) {
            v = tree[v * NODE + LINK];
            depth--;
        } else if (end == first) {
            end++;
        }
    }
}

/* The same with the tree in a texture, as MUMmerGPU has it: node v is texels 2 v (its children) and 2 v + 1
 * (start, end, link, nothing) of four words. Reference and queries stay in global memory. */
extern "C" __global__ void mummer_match_texture(unsigned long long tree,
                                                const unsigned char *__restrict__ reference,
                                                const unsigned char *__restrict__ query,
                                                unsigned *__restrict__ match, unsigned queries,
                                                unsigned length) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= queries) return;
    const unsigned char *q = query + i * length;
    unsigned *out = match + i * length;
    unsigned v = 0, depth = 0, end = 0, link = 0;
#pragma unroll 1
    for (unsigned first = 0; first < length; first++) {
#pragma unroll 1
        while (first + depth < length) {
            unsigned below = end - (first + depth), base = q[first + depth];
            ww_words4 below_v = ww_tex1d_words4(tree, 2 * v);
            unsigned child = base < 2 ? (base ? below_v.y : below_v.x) : (base == 2 ? below_v.z : below_v.w);
            if (child == 0) break;
            ww_words4 node = ww_tex1d_words4(tree, 2 * child + 1);
            unsigned start = node.x, edge = node.y - node.x;
#pragma unroll 1
            while (below < edge && end < length && reference[start + below] == q[end]) {
                below++;
                end++;
            }
            if (below < edge) break;
            v = child;
            link = node.z;
            depth += edge;
        }
        out[first] = end - first;
        if (v != 0) {
            v = link;
            link = ww_tex1d_words4(tree, 2 * v + 1).z;
            depth--;
        } else if (end == first) {
            end++;
        }
    }
}
