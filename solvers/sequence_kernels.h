/* The inner loops of the CFR family on the sequence form (solvers/sequence_form.pyx).

   Information sets of one player are packed into *tiles* of LANES sets with the same number of
   actions. Everything that belongs to a sequence (information set, action) has a *slot*: the
   slots of a tile are [action][lane], so the same action of a tile's sets is one *run* of LANES
   doubles, one vector register. Slots 0 .. LANES-1 are the empty sequence.

   The payoff matrix of a player is stored by runs. An entry is one slot of the rival and LANES
   numbers: chance reach times utility for each lane's sequence against it. Runs with equally many
   entries stand together, so that the loops are predictable.

   Lanes never mix, so every instruction set gives the same bits. Compiled for the base
   architecture and for AVX2, chosen when the module is loaded. */

#ifndef QUANDARY_SEQUENCE_KERNELS_H
#define QUANDARY_SEQUENCE_KERNELS_H

#include <stdint.h>
#include <string.h>

/* Vectors are only passed between functions that are always inlined, so their ABI does not matter. */
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wpsabi"
#endif

#define LANES 4

typedef double Vec __attribute__((vector_size(8 * LANES), aligned(8)));
typedef int64_t Mask __attribute__((vector_size(8 * LANES), aligned(8)));

enum { RULE_CFR = 0, RULE_PLUS = 1, RULE_DISCOUNT = 2, RULE_PREDICT = 3 };

typedef struct {
    int32_t n_slots;
    /* segments: tiles with equally many actions, all with a parent run or all without; parents first */
    int32_t n_segments;
    const int32_t *segment_tiles;   /* tiles in the segment */
    const int32_t *segment_slot;    /* first slot; tiles follow one another */
    const int32_t *segment_actions; /* actions of each set */
    const int32_t *segment_regular; /* 1: lane i's own last sequence is slot tile_parent + i */
    const int32_t *segment_parent;  /* first index into `parents` */
    const int32_t *parents;         /* regular: one slot a tile; else LANES slots a tile */
    const int32_t *segment_tile;    /* number of its first tile */
    const double *least;            /* LANES numbers a tile: regrets up to these are rounding, and count as 0 */
    /* the payoff matrix by runs, grouped by the number of entries */
    int32_t n_classes;
    const int32_t *class_runs;      /* runs in the class */
    const int32_t *class_entries;   /* entries of each of them */
    const int32_t *run_slot;        /* first slot of each run, classes one after another */
    const int32_t *column;          /* the rival's slot of each entry */
    const double *entry;            /* LANES numbers an entry */
    /* what does not fill lanes well, or has more than one rival: single terms, by slot */
    int32_t n_rows;
    int32_t n_rivals;
    const int32_t *row_slot;
    const int64_t *row_start;       /* n_rows + 1 */
    const int32_t *term_slots;      /* n_rivals slots a term, rivals in ascending order of seat */
    const double *term;
} Side;

typedef struct {
    double average;       /* of this iteration's policies in the average */
    double regret;        /* of its regrets */
    double keep_positive; /* share kept of the positive regrets so far */
    double keep_negative; /* and of the others */
} Weights;

#define INLINE static inline __attribute__((always_inline))

INLINE Vec load(const double *p) { return *(const Vec *)p; }
INLINE void store(double *p, Vec v) { *(Vec *)p = v; }
INLINE Vec keep(Vec v, Mask mask) { return (Vec)((Mask)v & mask); }
INLINE Vec above(Vec v, Vec least) { return keep(v, (Mask)(v > least)); }

/* u[slot] = sum over the rivals' sequences of payoff times their plans x. */
INLINE void values_body(const Side *s, const double *const *x, double *u) {
    const double *entry = s->entry;
    const int32_t *column = s->column, *run = s->run_slot;
    const double *first = x[0];
    memset(u, 0, sizeof(double) * (size_t)s->n_slots);
    for (int32_t c = 0; c < s->n_classes; c++) {
        const int32_t entries = s->class_entries[c];
        for (int32_t i = s->class_runs[c]; i > 0; i--) {
            Vec sum = {0};
            for (int32_t j = 0; j < entries; j++) {
                sum += load(entry) * first[*column++];
                entry += LANES;
            }
            store(u + *run++, sum);
        }
    }
    for (int32_t r = 0; r < s->n_rows; r++) {
        double sum = 0.0;
        if (s->n_rivals == 1) {
            for (int64_t t = s->row_start[r]; t < s->row_start[r + 1]; t++)
                sum += s->term[t] * first[s->term_slots[t]];
        } else {
            for (int64_t t = s->row_start[r]; t < s->row_start[r + 1]; t++) {
                double product = s->term[t];
                for (int32_t q = 0; q < s->n_rivals; q++)
                    product *= x[q][s->term_slots[t * s->n_rivals + q]];
                sum += product;
            }
        }
        u[s->row_slot[r]] += sum;
    }
}

/* One segment, last tile first: values of the sets from u, regrets by the rule, the next policy
   by regret matching; each set's value is added to its own last sequence's u.

   Added up in another order the results are as right, and after some thousand iterations others (docs/solvers.md): this
   one, with the order of sets and entries in sequence_form.pyx, comes near the reference figures. */
INLINE void update_segment(const Side *s, int32_t g, const int32_t k, const int rule, const Weights *weights, double *u,
                           double *regret, double *policy) {
    const int32_t regular = s->segment_regular[g];
    const Vec even = (Vec){0} + 1.0 / k;
    for (int32_t i = s->segment_tiles[g] - 1; i >= 0; i--) {
        const int64_t base = s->segment_slot[g] + (int64_t)i * k * LANES;
        double *q = u + base, *R = regret + base, *pi = policy + base;
        const Vec least = load(s->least + ((int64_t)s->segment_tile[g] + i) * LANES);
        Vec value = {0}, total = {0};
        for (int32_t a = k - 1; a >= 0; a--) value += load(pi + a * LANES) * load(q + a * LANES);
        for (int32_t a = 0; a < k; a++) {
            const Vec r = load(q + a * LANES) - value;
            Vec sum = load(R + a * LANES), plus;
            if (rule == RULE_CFR) {
                sum += r;
                plus = above(sum, least);
            } else if (rule == RULE_DISCOUNT) {
                const Mask up = (Mask)(sum > 0.0);
                sum = keep(sum * weights->keep_positive, up) + keep(sum * weights->keep_negative, ~up);
                sum += r * weights->regret;
                plus = above(sum, least * weights->regret);
            } else {
                sum = above(sum + r, least);
                plus = rule == RULE_PREDICT ? above(sum + r, least) : sum;
            }
            store(R + a * LANES, sum);
            store(pi + a * LANES, plus);
            total += plus;
        }
        const Mask some = (Mask)(total > 0.0);
        const Vec share = 1.0 / total;
        for (int32_t a = 0; a < k; a++)
            store(pi + a * LANES, keep(load(pi + a * LANES) * share, some) + keep(even, ~some));
        if (regular) {
            double *parent = u + s->parents[s->segment_parent[g] + i];
            store(parent, load(parent) + value);
        } else {
            const int32_t *parent = s->parents + s->segment_parent[g] + (int64_t)i * LANES;
            for (int lane = 0; lane < LANES; lane++) u[parent[lane]] += value[lane];
        }
    }
}

INLINE void update_body(const Side *s, const int rule, const Weights *weights, double *u, double *regret,
                        double *policy) {
    for (int32_t g = s->n_segments - 1; g >= 0; g--) {
        switch (s->segment_actions[g]) {
        case 2: update_segment(s, g, 2, rule, weights, u, regret, policy); break;
        case 3: update_segment(s, g, 3, rule, weights, u, regret, policy); break;
        case 4: update_segment(s, g, 4, rule, weights, u, regret, policy); break;
        default: update_segment(s, g, s->segment_actions[g], rule, weights, u, regret, policy);
        }
    }
}

/* sum += weight * x, then x becomes the plan of the policy. */
INLINE void plan_segment(const Side *s, int32_t g, const int32_t k, double weight, const double *policy, double *x,
                         double *sum) {
    const int32_t regular = s->segment_regular[g];
    for (int32_t i = 0; i < s->segment_tiles[g]; i++) {
        const int64_t base = s->segment_slot[g] + (int64_t)i * k * LANES;
        Vec reach;
        if (regular) {
            reach = load(x + s->parents[s->segment_parent[g] + i]);
        } else {
            const int32_t *parent = s->parents + s->segment_parent[g] + (int64_t)i * LANES;
            for (int lane = 0; lane < LANES; lane++) reach[lane] = x[parent[lane]];
        }
        for (int32_t a = 0; a < k; a++) {
            const int64_t slot = base + a * LANES;
            store(sum + slot, load(sum + slot) + load(x + slot) * weight);
            store(x + slot, reach * load(policy + slot));
        }
    }
}

INLINE void plan_body(const Side *s, double weight, const double *policy, double *x, double *sum) {
    for (int32_t g = 0; g < s->n_segments; g++) {
        switch (s->segment_actions[g]) {
        case 2: plan_segment(s, g, 2, weight, policy, x, sum); break;
        case 3: plan_segment(s, g, 3, weight, policy, x, sum); break;
        case 4: plan_segment(s, g, 4, weight, policy, x, sum); break;
        default: plan_segment(s, g, s->segment_actions[g], weight, policy, x, sum);
        }
    }
}

/* The best response to what made u: each set's greatest action value is added to its own last
   sequence's u; the choice is written as a pure policy (lowest action of the best) unless null. */
INLINE void best_body(const Side *s, double *u, double *policy) {
    for (int32_t g = s->n_segments - 1; g >= 0; g--) {
        const int32_t k = s->segment_actions[g], regular = s->segment_regular[g];
        for (int32_t i = s->segment_tiles[g] - 1; i >= 0; i--) {
            const int64_t base = s->segment_slot[g] + (int64_t)i * k * LANES;
            const double *q = u + base;
            Vec best = load(q);
            for (int32_t a = 1; a < k; a++) {
                const Vec other = load(q + a * LANES);
                const Mask more = (Mask)(other > best);
                best = keep(other, more) + keep(best, ~more);
            }
            if (policy) {
                Mask open = (Mask)(best == best);
                const Vec one = (Vec){0} + 1.0;
                for (int32_t a = 0; a < k; a++) {
                    const Mask here = open & (Mask)(load(q + a * LANES) == best);
                    store(policy + base + a * LANES, keep(one, here));
                    open &= ~here;
                }
            }
            if (regular) {
                double *parent = u + s->parents[s->segment_parent[g] + i];
                store(parent, load(parent) + best);
            } else {
                const int32_t *parent = s->parents + s->segment_parent[g] + (int64_t)i * LANES;
                for (int lane = 0; lane < LANES; lane++) u[parent[lane]] += best[lane];
            }
        }
    }
}

typedef void (*ValuesKernel)(const Side *, const double *const *, double *);
typedef void (*UpdateKernel)(const Side *, const Weights *, double *, double *, double *);
typedef void (*PlanKernel)(const Side *, double, const double *, double *, double *);
typedef void (*BestKernel)(const Side *, double *, double *);

typedef struct {
    ValuesKernel values;
    UpdateKernel update[4]; /* by rule */
    PlanKernel plan;
    BestKernel best;
} Kernels;

#define DEFINE_KERNELS(NAME, TARGET)                                                                              \
    TARGET static void NAME##_values(const Side *s, const double *const *x, double *u) { values_body(s, x, u); }  \
    TARGET static void NAME##_cfr(const Side *s, const Weights *w, double *u, double *r, double *pi) {            \
        update_body(s, RULE_CFR, w, u, r, pi);                                                                    \
    }                                                                                                             \
    TARGET static void NAME##_plus(const Side *s, const Weights *w, double *u, double *r, double *pi) {           \
        update_body(s, RULE_PLUS, w, u, r, pi);                                                                   \
    }                                                                                                             \
    TARGET static void NAME##_discount(const Side *s, const Weights *w, double *u, double *r, double *pi) {       \
        update_body(s, RULE_DISCOUNT, w, u, r, pi);                                                               \
    }                                                                                                             \
    TARGET static void NAME##_predict(const Side *s, const Weights *w, double *u, double *r, double *pi) {        \
        update_body(s, RULE_PREDICT, w, u, r, pi);                                                                \
    }                                                                                                             \
    TARGET static void NAME##_plan(const Side *s, double w, const double *pi, double *x, double *sum) {           \
        plan_body(s, w, pi, x, sum);                                                                              \
    }                                                                                                             \
    TARGET static void NAME##_best(const Side *s, double *u, double *pi) { best_body(s, u, pi); }                 \
    static const Kernels NAME##_kernels = {                                                                       \
        NAME##_values, {NAME##_cfr, NAME##_plus, NAME##_discount, NAME##_predict}, NAME##_plan, NAME##_best};

DEFINE_KERNELS(base, )

#if defined(__x86_64__) && defined(__GNUC__)
DEFINE_KERNELS(avx2, __attribute__((target("avx2"))))
#endif

/* The fastest kernels of this processor; the base ones when asked for. */
static const Kernels *choose_kernels(int base_only) {
#if defined(__x86_64__) && defined(__GNUC__)
    if (!base_only && __builtin_cpu_supports("avx2")) return &avx2_kernels;
#endif
    (void)base_only;
    return &base_kernels;
}

#undef INLINE
#endif
