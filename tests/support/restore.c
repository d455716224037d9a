/* restore.c - resumes training from a saved checkpoint. */
#include "tests/support/restore.h"

int restore_trainer(struct trainer *trainer, const char *from)
{
    struct training_state state = trainer_state(trainer);
    int status = checkpoint_restore(from, &trainer->checkpoint, &state);
    if (!status)
        trainer_set_step(trainer, state.step, state.update);
    return status;
}
