/* test_model.c - the model compared with PyTorch, which computed loss, gradients and three AdamW steps of a small model
 * in double precision (tests/support/fixture/make_fixture.py); and the memory plan of the model. */
#include "ddp/data.h"
#include "ddp/optimizer.h"
#include "ddp/transformer.h"
#include "kernels/error.h"
#include "tests/support/on_device.h"
#include "tests/support/suite.h"

#include <cJSON.h>
#include <math.h>
#include <stdlib.h>

static cJSON *fixture;
static struct model model;

static double number(const cJSON *object, const char *name)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, name);
    ck_assert_msg(cJSON_IsNumber(item), "the fixture has no number %s", name);
    return item->valuedouble;
}

/* Reads an array of n numbers. */
static double *numbers(const cJSON *object, const char *name, size_t n)
{
    const cJSON *array = cJSON_GetObjectItemCaseSensitive(object, name), *item;
    ck_assert_uint_eq((size_t)cJSON_GetArraySize(array), n);
    double *value = kept(allocate(n, sizeof *value));
    size_t i = 0;
    cJSON_ArrayForEach(item, array) value[i++] = item->valuedouble;
    return value;
}

static void setup(void)
{
    fixture = cJSON_Parse(text_of_file("tests/support/fixture/fixture.json"));
    ck_assert(fixture != NULL);
    const cJSON *config = cJSON_GetObjectItemCaseSensitive(fixture, "config");
    struct model_sizes sizes = {
        .batch = (size_t)number(config, "B"),
        .context = (size_t)number(config, "T"),
        .vocabulary = (size_t)number(config, "V"),
        .width = (size_t)number(config, "C"),
        .layers = (size_t)number(config, "L"),
        .heads = (size_t)number(config, "H"),
        .shards = 1,
        .ff = (size_t)number(config, "F"),
    };
    const struct device *device = on_device(0);
    transformer_plan(&model, &sizes, device->compute_bytes);
    model_allocate(&model, device, NULL, NULL);
    const cJSON *parameters = cJSON_GetObjectItemCaseSensitive(fixture, "parameters"), *p;
    int i = 0;
    ck_assert_int_eq(cJSON_GetArraySize(parameters), model.tensors);
    cJSON_ArrayForEach(p, parameters)
    {
        const struct tensor *t = &model.tensor[i++];
        ck_assert_str_eq(cJSON_GetObjectItemCaseSensitive(p, "name")->valuestring, t->name);
        double *initial = numbers(p, "initial", t->count);
        float *rounded = kept(allocate(t->count, sizeof *rounded));
        for (size_t j = 0; j < t->count; j++)
            rounded[j] = (float)initial[j];
        device->upload(model.weight + t->offset, rounded, t->count * sizeof *rounded);
    }
    model_weights_changed(&model);
}

static void teardown(void)
{
    model_destroy(&model);
    cJSON_Delete(fixture);
}

/* Returns the factor by which errors of this device's matrix products may exceed errors in fp32. */
static double slack(const struct device *device)
{
    return device->precision == PRECISION_BF16 ? 8e3 : device->precision == PRECISION_TF32 ? 1e3 : 1;
}

/* Does one forward and backward pass; returns the loss. */
static float run(const int32_t *in, const int32_t *out, size_t tokens, float scale, int accumulate,
                 const struct gradient_hook *hook)
{
    const struct device *device = model.device;
    int32_t *order = kept(allocate(tokens, sizeof *order)),
            *count = kept(allocate(model.sizes.vocabulary, sizeof *count));
    batch_sort(order, count, in, tokens, model.sizes.vocabulary);
    int32_t *input = to_device(device, in, tokens), *target = to_device(device, out, tokens);
    int32_t *sorted = to_device(device, order, tokens);
    float *loss = device->allocate(sizeof *loss);
    model.source->forward(&model, input, target, loss, scale, scale, NULL);
    model.source->backward(&model, input, sorted, accumulate, hook);
    float is = float_of(device, loss);
    device->release(loss);
    device->release(input);
    device->release(target);
    device->release(sorted);
    return is;
}

/* Does one forward and backward pass on the tokens of a step of the fixture; returns the loss. */
static float pass(int step, int accumulate)
{
    size_t tokens = model.sizes.batch * model.sizes.context;
    const cJSON *item = cJSON_GetArrayItem(cJSON_GetObjectItemCaseSensitive(fixture, "steps"), step);
    double *input = numbers(item, "input", tokens), *target = numbers(item, "target", tokens);
    int32_t in[256], out[256];
    ck_assert_uint_le(tokens, 256);
    for (size_t i = 0; i < tokens; i++) {
        in[i] = (int32_t)input[i];
        out[i] = (int32_t)target[i];
    }
    return run(in, out, tokens, 1 / (float)tokens, accumulate, NULL);
}

static double expected_loss(int step)
{
    return number(cJSON_GetArrayItem(cJSON_GetObjectItemCaseSensitive(fixture, "steps"), step), "loss");
}

/* Returns the largest difference between tensor t in an arena and its values `name` in the fixture, relative to the
 * largest value or, if minus is not NULL, to the largest difference between the values `name` and `minus`. */
static double worst(const float *arena, const struct tensor *t, const cJSON *parameter, const char *name,
                    const char *minus)
{
    double *value = numbers(parameter, name, t->count), difference = 0, largest = 0;
    double *base = minus ? numbers(parameter, minus, t->count) : NULL;
    for (size_t j = 0; j < t->count; j++) {
        difference = fmax(difference, fabs((double)arena[t->offset + j] - value[j]));
        largest = fmax(largest, fabs(value[j] - (base ? base[j] : 0)));
    }
    return difference / largest;
}

TEST(gradients_equal_pytorchs)
{
    pass(1, 0); /* leaves a gradient that the next pass must overwrite */
    double loss = (double)pass(0, 0);
    ck_assert_double_eq_tol(loss, expected_loss(0), 1e-6 * slack(model.device) * expected_loss(0));
    float *gradient = on_host(model.device, model.gradient, model.arena);
    const cJSON *p = cJSON_GetObjectItemCaseSensitive(fixture, "parameters")->child;
    for (int i = 0; i < model.tensors; i++, p = p->next) {
        /* the tolerance allows fp32 sums of some hundred products in another order */
        double error = worst(gradient, &model.tensor[i], p, "gradient", NULL);
        ck_assert_msg(error < 1e-5 * slack(model.device), "gradient of %s: the error is %g of the largest value",
                      model.tensor[i].name, error);
    }
}

/* Gradients of two micro-batches add up. Matrix products that add to their output may use another kernel and sum in
 * another order. The error is relative to the largest term, since terms may cancel in a sum. */
TEST(gradients_of_micro_batches_add_up)
{
    pass(0, 0);
    float *first = on_host(model.device, model.gradient, model.arena);
    pass(1, 0);
    float *second = on_host(model.device, model.gradient, model.arena);
    pass(0, 0);
    pass(1, 1);
    float *sum = on_host(model.device, model.gradient, model.arena);
    for (int i = 0; i < model.tensors; i++) {
        const struct tensor *t = &model.tensor[i];
        double difference = 0, largest = 0;
        for (size_t j = t->offset; j < t->offset + t->count; j++) {
            double a = (double)first[j], b = (double)second[j];
            difference = fmax(difference, fabs((double)sum[j] - (a + b)));
            largest = fmax(largest, fmax(fabs(a), fabs(b)));
        }
        ck_assert_msg(difference <= 1e-5 * slack(model.device) * largest,
                      "gradient of %s: the error is %g of the largest value", t->name, difference / largest);
    }
}

TEST(three_steps_equal_pytorchs)
{
    struct optimizer optimizer;
    struct adamw adamw = {0.9f, 0.999f, 1e-8f, 0.01f};
    optimizer_create(&optimizer, &model, &adamw, model.arena);
    for (int step = 0; step < 3; step++) {
        float loss = pass(step, 0);
        ck_assert_double_eq_tol((double)loss, expected_loss(step), 1e-5 * slack(model.device) * expected_loss(step));
        optimizer_set_step(&optimizer, &model, 1e-2f, step + 1);
        model.device->grad_norm(optimizer.scalars, model.gradient, model.arena, 0);
        if (step == 0)
            ck_assert_double_eq_tol((double)float_of(model.device, optimizer.scalars + SCALAR_GRAD_NORM),
                                    number(fixture, "gradient_norm"), 1e-5 * slack(model.device));
        model.device->adamw(model.weight, model.narrow_weight, optimizer.m, optimizer.v, model.gradient, model.arena,
                            optimizer.scalars, &optimizer.adamw);
    }
    const cJSON *p = cJSON_GetObjectItemCaseSensitive(fixture, "parameters")->child;
    float *weight = on_host(model.device, model.weight, model.arena);
    float *gradient = on_host(model.device, model.gradient, model.arena);
    double allowed = model.device->precision == PRECISION_FP32 ? 1e-3 : 1; /* gradients near 0 may change sign */
    for (int i = 0; i < model.tensors; i++, p = p->next) {
        /* error relative to the change of the weight; AdamW divides by the gradient's size, magnifying small errors */
        double error = worst(weight, &model.tensor[i], p, "final", "initial");
        ck_assert_msg(error < allowed, "%s: the error is %g of the largest weight change", model.tensor[i].name, error);
    }
    for (int i = 0; i < model.tensors; i++) { /* alignment gaps stay zero */
        size_t end = model.tensor[i].offset + model.tensor[i].count;
        for (size_t j = end; j < (i ? model.tensor[i - 1].offset : model.arena); j++)
            ck_assert(weight[j] == 0 && gradient[j] == 0);
    }
    optimizer_destroy(&optimizer, &model);
}

struct watch {
    float *seen; /* [arena] gradients at the time of their announcement */
    int next;
    size_t parts;
};

static void keep(void *context, int tensor)
{
    struct watch *w = context;
    const struct tensor *t = &model.tensor[tensor];
    ck_assert_int_eq(tensor, w->next--);
    model.device->download(w->seen + t->offset, model.gradient + t->offset, t->count * sizeof *w->seen);
}

/* Each tensor is announced once, in reverse order of registration, and its gradient does not change afterwards. */
TEST(an_announced_gradient_is_final)
{
    struct watch watch = {kept(allocate(model.arena, sizeof *watch.seen)), model.tensors - 1, 0};
    struct gradient_hook hook = {NULL, keep, NULL, &watch};
    int32_t tokens[64] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
    run(tokens, tokens, model.sizes.batch * model.sizes.context, 1, 0, &hook);
    float *gradient = on_host(model.device, model.gradient, model.arena);
    ck_assert_int_eq(watch.next, -1);
    ck_assert_mem_eq(watch.seen, gradient, model.arena * sizeof *watch.seen);
}

static void count(void *context, int tensor)
{
    struct watch *w = context;
    w->next = tensor;
}

static void spoil(void *context)
{
    struct watch *w = context;
    const struct tensor *t = &model.tensor[w->next];
    for (size_t i = 0; i < t->offset + t->count; i++) /* earlier announced tensors lie before this one */
        model.device->upload(model.weight + i, &(float){NAN}, sizeof(float));
    w->parts++;
}

/* After a part of backward, the weights of the tensors announced so far are not used. */
TEST(weights_are_used_until_their_part_ends)
{
    struct watch watch = {0};
    struct gradient_hook hook = {NULL, count, spoil, &watch};
    int32_t tokens[64] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
    size_t n = model.sizes.batch * model.sizes.context;
    run(tokens, tokens, n, 1, 0, NULL);
    float *expected = on_host(model.device, model.gradient, model.arena);
    run(tokens, tokens, n, 1, 0, &hook);
    float *gradient = on_host(model.device, model.gradient, model.arena);
    ck_assert_uint_eq(watch.parts, 2 * model.sizes.layers + 2);
    ck_assert_mem_eq(gradient, expected, model.arena * sizeof *gradient);
}

TEST(initial_weights_have_their_variance)
{
    struct model large;
    struct model_sizes sizes = {1, 4, 500, 64, 2, 4, 96, 1};
    transformer_plan(&large, &sizes, sizeof(float));
    model_allocate(&large, device_cpu(1), NULL, NULL);
    large.source->initialize(&large, 7);
    for (int i = 0; i < large.tensors; i++) {
        const struct tensor *t = &large.tensor[i];
        double sum = 0, squares = 0, variance = i == 0 ? 1 : 2 / (double)(t->rows + t->columns);
        for (size_t j = 0; j < t->count; j++) {
            double w = (double)large.weight[t->offset + j];
            sum += w;
            squares += w * w;
            if (t->rows == 1)
                ck_assert_double_eq(w, 1);
            else
                ck_assert_double_le(fabs(w), 3.001 * sqrt(variance));
        }
        if (t->rows == 1)
            continue;
        double n = (double)t->count;
        ck_assert_double_le(fabs(sum / n), 4 * sqrt(variance / n));
        /* a normal distribution cut off at three standard deviations has 0.9733 of its variance; the estimate of a
         * variance has a relative standard error of about sqrt(2 / n) */
        ck_assert_double_eq_tol(squares / n / variance, 0.9733, 5 * sqrt(2 / n));
    }
    model_destroy(&large);
}

TEST(the_learning_rate_ramps_from_zero)
{
    struct lr_schedule schedule = {0.001f, 4};
    ck_assert_float_eq(schedule_learning_rate(&schedule, -2), 0);
    ck_assert_float_eq(schedule_learning_rate(&schedule, 0), 0);
    ck_assert_float_eq_tol(schedule_learning_rate(&schedule, 1), 0.00025f, 1e-9f);
    ck_assert_float_eq_tol(schedule_learning_rate(&schedule, 3), 0.00075f, 1e-9f);
    ck_assert_float_eq(schedule_learning_rate(&schedule, 4), 0.001f);
    ck_assert_float_eq(schedule_learning_rate(&schedule, 1000), 0.001f);
    ck_assert(schedule_is_warmup(&schedule, 3) && !schedule_is_warmup(&schedule, 4));
    struct lr_schedule flat = {0.5f, 0};
    ck_assert_float_eq(schedule_learning_rate(&flat, 0), 0.5f);
}

int main(void)
{
    return on_device_is_there() ? suite_run(suite_of_tests("model", setup, teardown)) : EXIT_SUCCESS;
}
