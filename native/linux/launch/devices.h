/*
 * The sandbox's /dev: a tmpfs with a few nodes of the host's, terminals and
 * shared memory of its own. Set-up code: dies when it fails.
 */
#pragma once

#include "../../common/cordon.h"

enum { DEVICE_NODES = 6 };

/* Trees cloned from the host's /dev; -1: the host has none. */
struct devices {
	int nodes[DEVICE_NODES];
	int terminal;
};

/* While the host's /dev is there; terminal: a descriptor of it, or -1. */
void clone_devices(int terminal, struct devices *ret_devices);

/*
 * Puts it in place, writable until close_dev(). *ret_files is a folder of the
 * same tmpfs that nobody sees, for files that are bound elsewhere.
 */
void mount_dev(const struct devices *devices, int *ret_files);

void close_dev(void);
