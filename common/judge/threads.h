/* SPDX-License-Identifier: MIT */
/* threads.h - stands before each answer in plain C: its threads are the judge's, which starts them in an order of its
   own. */
#ifndef JUDGE_THREADS_H
#define JUDGE_THREADS_H

#include <pthread.h>

#define pthread_create judge_thread_create
#define pthread_join judge_thread_join

int judge_thread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *), void *argument);
int judge_thread_join(pthread_t thread, void **result);

#endif
