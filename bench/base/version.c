/* version.c - the version of this program. */
#include "base/version.h"

const char *version_text(void)
{
    return *DDPBENCH_DESCRIPTION ? DDPBENCH_VERSION " (" DDPBENCH_DESCRIPTION ")" : DDPBENCH_VERSION;
}
