/* own_strategy.h - a strategy that the program does not have: it keeps a buffer, and sends a bucket in two halves. It
 * shows that a strategy is one table of hooks, which no other file knows. */
#ifndef TESTS_SUPPORT_OWN_STRATEGY_H
#define TESTS_SUPPORT_OWN_STRATEGY_H

#include "ddp/strategy.h"

extern const struct strategy own_strategy;

#endif
