/* operations.c - name, sizes and work of each operation. */
#include "kernels/operations.h"

#include <string.h>

/* Matrix products count 2 operations per multiply-add. Attention counts the causal half of its products: 2 forward, and
 * 5 backward, where scores are recomputed. Element by element, the formulas in device.h count 1 for each addition,
 * multiplication, division, root and exponential. */
const struct operation_facts operation_facts[OPERATIONS] = {
    [OPERATION_ZERO] = {"zero", "n", "", "", "", "4n", ""},
    [OPERATION_COPY] = {"copy", "n", "n", "f", "", "8n", ""},
    [OPERATION_PACK_BF16] = {"pack_bf16", "n", "n", "f", "", "6n", ""},
    [OPERATION_UNPACK_BF16] = {"unpack_bf16", "nr", "rn", "h", "", "2nr+4n", ""},
    [OPERATION_EMBEDDING_FORWARD] = {"embedding_forward", "NC", "N", "i", "", "4N+2eNC", "eNC"},
    [OPERATION_EMBEDDING_BACKWARD] = {"embedding_backward", "NCV", "NC,N,N", "cii", "NC", "8N+eNC+4VC", "4VC"},
    [OPERATION_LINEAR_FORWARD] = {"linear_forward", "NIO", "NI,OI", "cc", "2NIO", "eNI+eOI+eNO", "eNO"},
    [OPERATION_LINEAR_RESIDUAL_FORWARD] = {"linear_residual_forward", "NIO", "NO,NI,OI", "ccc", "2NIO", "eNI+eOI+2eNO",
                                           "eNO"},
    [OPERATION_LINEAR_BACKWARD_INPUT] = {"linear_backward_input", "NIO", "NO,OI", "cc", "2NIO", "eNO+eOI+eNI", ""},
    [OPERATION_LINEAR_BACKWARD_WEIGHT] = {"linear_backward_weight", "NIO", "NO,NI", "cc", "2NIO", "eNO+eNI+4OI", "4OI"},
    [OPERATION_RMSNORM_FORWARD] = {"rmsnorm_forward", "NC", "NC,C", "cc", "4NC", "2eNC+eC+4N", "eNC+4N"},
    [OPERATION_RMSNORM_BACKWARD] = {"rmsnorm_backward", "NC", "NC,NC,C,N", "cccf", "10NC", "4eNC+eC+4C+4N", "4C"},
    [OPERATION_ROPE_FORWARD] = {"rope_forward", "BTHD", "BTHD,BTHD,TD", "ccf", "6BTHD", "4eBTHD+4TD", ""},
    [OPERATION_ATTENTION_FORWARD] = {"attention_forward", "BTHD", "BTHD,BTHD,BTHD", "ccc", "2BTTHD", "4eBTHD+4BTH",
                                     "eBTHD+4BTH"},
    [OPERATION_ATTENTION_BACKWARD] = {"attention_backward", "BTHD", "BTHD,BTHD,BHT,BTHD,BTHD,BTHD,TD", "ccfcccf",
                                      "5BTTHD", "8eBTHD+4BTH+4TD", ""},
    [OPERATION_SWIGLU_FORWARD] = {"swiglu_forward", "NF", "NF,NF", "cc", "5NF", "3eNF", "eNF"},
    [OPERATION_SWIGLU_BACKWARD] = {"swiglu_backward", "NF", "NF,NF,NF", "ccc", "11NF", "5eNF", ""},
    [OPERATION_CROSS_ENTROPY] = {"cross_entropy", "NV", "NV,N", "ci", "4NV", "2eNV+4N", ""},
    [OPERATION_GRAD_NORM] = {"grad_norm", "n", "n", "f", "2n", "4n", ""},
    [OPERATION_ADAMW] = {"adamw", "n", "n,n,n,n", "ffff", "15n", "28n", ""},
    [OPERATION_AXPBY] = {"axpby", "n", "n,n", "ff", "3n", "12n", ""},
    [OPERATION_LOW_RANK_LEFT] = {"low_rank_left", "RIO", "OI,OI,RI", "fff", "2RIO", "12OI+4RI+4RO", ""},
    [OPERATION_LOW_RANK_RIGHT] = {"low_rank_right", "RIO", "RO,OI", "ff", "2RIO+4RRO", "4OI+4RI+8RO", ""},
    [OPERATION_LOW_RANK_RESTORE] = {"low_rank_restore", "RIO", "OI,RO,RI", "fff", "2RIO", "12OI+4RI+4RO", ""},
};

size_t operation_size(const char *letters, const size_t *sizes, char letter)
{
    const char *at = strchr(letters, letter);
    return at && letter ? sizes[at - letters] : 0;
}

double operation_amount(const char *formula, const char *letters, const size_t *sizes, size_t compute_bytes)
{
    double sum = 0, product = 1, number = 0;
    if (!*formula)
        return 0;
    for (const char *c = formula;; c++) {
        if (*c >= '0' && *c <= '9')
            number = 10 * number + (*c - '0');
        else if (*c == 'e')
            product *= (double)compute_bytes;
        else if (*c && *c != '+')
            product *= (double)operation_size(letters, sizes, *c);
        else {
            sum += product * (number != 0 ? number : 1);
            product = 1;
            number = 0;
            if (!*c)
                return sum;
        }
    }
}
