/* bfs: one level of a breadth-first search; the host launches a level after the other. The neighbours of
 * node v are edge[start[v]] .. edge[start[v + 1] - 1]; distance is UNSEEN where not reached yet. */
#include "ww_device.h"

#define UNSEEN 0xffffffffu

/* A thread per node, most of which have nothing to do. Several may write the same distance: the same value. */
extern "C" __global__ void bfs_topology(unsigned nodes, const unsigned *__restrict__ start,
                                        const unsigned *__restrict__ edge, unsigned *distance, unsigned level,
                                        unsigned *changed) {
    unsigned v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v >= nodes || distance[v] != level) return;
    bool found = false;
    unsigned end = start[v + 1];
#pragma unroll 1
    for (unsigned e = start[v]; e < end; e++) {
        unsigned w = edge[e];
        if (distance[w] == UNSEEN) {
            distance[w] = level + 1;
            found = true;
        }
    }
    if (found) *changed = 1;
}

/* A thread per node of the frontier; whoever reaches a node first (compare-and-swap) queues it. */
extern "C" __global__ void bfs_frontier(unsigned count, const unsigned *__restrict__ frontier,
                                        const unsigned *__restrict__ start, const unsigned *__restrict__ edge,
                                        unsigned *distance, unsigned level, unsigned *next,
                                        unsigned *next_count) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    unsigned v = frontier[i], end = start[v + 1];
#pragma unroll 1
    for (unsigned e = start[v]; e < end; e++) {
        unsigned w = edge[e];
        if (atomicCAS(&distance[w], UNSEEN, level + 1) == UNSEEN) next[atomicAdd(next_count, 1u)] = w;
    }
}

/* A level in two kernels with a mask byte a node, after Harish and Narayanan (HiPC 2007): the frontier's nodes
 * mark those that they reach, then the marked ones become the next frontier. `node` holds the place of a node's
 * first edge and their number. */
extern "C" __global__ void bfs_mask_expand(unsigned nodes, const uint2 *__restrict__ node,
                                           const unsigned *__restrict__ edge, unsigned char *frontier,
                                           unsigned char *marked, const unsigned char *__restrict__ visited,
                                           unsigned *distance) {
    unsigned v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v >= nodes || !frontier[v]) return;
    frontier[v] = 0;
    uint2 n = node[v];
#pragma unroll 1
    for (unsigned e = n.x; e < n.x + n.y; e++) {
        unsigned w = edge[e];
        if (!visited[w]) {
            distance[w] = distance[v] + 1;
            marked[w] = 1;
        }
    }
}

extern "C" __global__ void bfs_mask_update(unsigned nodes, unsigned char *frontier, unsigned char *marked,
                                           unsigned char *visited, unsigned *changed) {
    unsigned v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v >= nodes || !marked[v]) return;
    frontier[v] = 1;
    visited[v] = 1;
    *changed = 1;
    marked[v] = 0;
}

/* The same of a program whose arrays may be the same: after each store the node and its distance are read
 * again. */
extern "C" __global__ void bfs_mask_expand_aliased(unsigned nodes, const uint2 *node, const unsigned *edge,
                                                   unsigned char *frontier, unsigned char *marked,
                                                   const unsigned char *visited, unsigned *distance) {
    unsigned v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v >= nodes || !frontier[v]) return;
    frontier[v] = 0;
#pragma unroll 1
    for (unsigned e = node[v].x; e < node[v].x + node[v].y; e++) {
        unsigned w = edge[e];
        if (!visited[w]) {
            distance[w] = distance[v] + 1;
            marked[w] = 1;
        }
    }
}
