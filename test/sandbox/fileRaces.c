/*
 * fileRaces FOLDER MILLISECONDS - threads that exchange what a call names while
 * it is being made, so that something protected comes to be. Prints how often
 * each was tried and how often it was seen to work: never, it should say.
 *
 * The folder is a root with `harmless/` in it and no `.vscode`; what is tried
 * is to make `.vscode/tasks.json` or `.git/hooks/x` by calls that name
 * something harmless at the moment they are made.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static const char *base;
static atomic_bool over;

struct race {
	const char *name;
	/* One try; another thread runs disturb() all the time. */
	void (*attempt)(void);
	void (*disturb)(void);
	bool (*won)(void);
};

static bool exists(const char *path)
{
	struct stat status;

	return lstat(path, &status) == 0;
}

static void make_file(const char *path, int flags)
{
	int fd = open(path, O_WRONLY | O_CREAT | flags, 0755);

	if (fd >= 0)
		close(fd);
}

/* The path's own memory is exchanged. */

static char shared[64] = "harmless";

static void exchange_memory(void)
{
	memcpy(shared, ".vscode\0", 9);
	memcpy(shared, "harmless", 9);
}

static void mkdir_shared(void)
{
	(void)mkdir(shared, 0755);
	(void)rmdir("harmless");
}

static void open_shared(void)
{
	make_file(shared, O_EXCL);
	(void)unlink("harmless");
}

static void rename_shared(void)
{
	(void)mkdir("from", 0755);
	(void)rename("from", shared);
	(void)rmdir("harmless");
}

static void symlink_shared(void)
{
	(void)symlink("elsewhere", shared);
	(void)unlink("harmless");
}

static void link_shared(void)
{
	(void)link("file", shared);
	(void)unlink("harmless");
}

static void mknod_shared(void)
{
	(void)mknod(shared, S_IFREG | 0644, 0);
	(void)unlink("harmless");
}

static bool made_vscode(void)
{
	return exists(".vscode");
}

/* A symbolic link on the way is exchanged. */

static void exchange_link(void)
{
	(void)symlink("plain", "way.new");
	(void)rename("way.new", "way");
	(void)symlink(".git", "way.new");
	(void)rename("way.new", "way");
}

static void open_by_link(void)
{
	make_file("way/hooks/x", 0);
}

static void rename_by_link(void)
{
	make_file("hook", 0);
	(void)rename("hook", "way/hooks/x");
}

static void mkdir_by_link(void)
{
	(void)mkdir("way/hooks/x", 0755);
}

static void chmod_by_link(void)
{
	(void)chmod("way/hooks/sleeping", 0755);
}

static bool made_hook(void)
{
	return exists(".git/hooks/x");
}

static bool woke_hook(void)
{
	struct stat status;

	return stat(".git/hooks/sleeping", &status) == 0 &&
	       status.st_mode & 0111;
}

/* A folder above moves while something is made in it. */

static void move_folder(void)
{
	(void)rename("moving", "node_modules/moving");
	(void)rename("node_modules/moving", "moving");
	(void)rename("moving", ".vscode");
	(void)rename("moving", "nested/.vscode");
}

static void open_in_moving(void)
{
	make_file("moving/tasks.json", 0);
	make_file("node_modules/moving/tasks.json", 0);
}

static bool moved_to_vscode(void)
{
	return exists(".vscode") || exists(".vscode/tasks.json");
}

/* A repository without a name comes together from its parts. */

static void complete_bare(void)
{
	(void)mkdir("bare/objects", 0755);
	(void)mkdir("bare/refs", 0755);
	make_file("bare/HEAD", 0);
	if (exists("bare/objects") && exists("bare/refs") &&
	    exists("bare/HEAD"))
		return;
	(void)rmdir("bare/objects");
	(void)rmdir("bare/refs");
	(void)unlink("bare/HEAD");
}

static void complete_bare_otherwise(void)
{
	make_file("bare/HEAD", 0);
	(void)mkdir("bare/refs", 0755);
	(void)mkdir("bare/objects", 0755);
}

static bool has_bare(void)
{
	return exists("bare/objects") && exists("bare/refs") &&
	       exists("bare/HEAD");
}

/* A descriptor's number leads elsewhere. */

static int number = -1;

static void exchange_descriptor(void)
{
	int plain = open("plain/hooks", O_RDONLY | O_DIRECTORY);
	int git = open(".git/hooks", O_RDONLY | O_DIRECTORY);

	(void)dup2(plain, number);
	(void)dup2(git, number);
	close(plain);
	close(git);
}

static void open_by_number(void)
{
	int fd = openat(number, "x", O_WRONLY | O_CREAT, 0755);

	if (fd >= 0)
		close(fd);
}

static const struct race races[] = {
	{ "mkdir, path exchanged", mkdir_shared, exchange_memory, made_vscode },
	{ "open, path exchanged", open_shared, exchange_memory, made_vscode },
	{ "rename, path exchanged", rename_shared, exchange_memory,
	  made_vscode },
	{ "symlink, path exchanged", symlink_shared, exchange_memory,
	  made_vscode },
	{ "link, path exchanged", link_shared, exchange_memory, made_vscode },
	{ "mknod, path exchanged", mknod_shared, exchange_memory, made_vscode },
	{ "open, link exchanged", open_by_link, exchange_link, made_hook },
	{ "rename, link exchanged", rename_by_link, exchange_link, made_hook },
	{ "mkdir, link exchanged", mkdir_by_link, exchange_link, made_hook },
	{ "chmod, link exchanged", chmod_by_link, exchange_link, woke_hook },
	{ "open, folder moved", open_in_moving, move_folder, moved_to_vscode },
	{ "parts of a repository", complete_bare, complete_bare_otherwise,
	  has_bare },
	{ "open, descriptor exchanged", open_by_number, exchange_descriptor,
	  made_hook },
};

static void *disturb(void *argument)
{
	const struct race *race = argument;

	while (!over)
		race->disturb();
	return NULL;
}

static long long now_ms(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000LL + now.tv_nsec / 1000000;
}

struct count {
	const struct race *race;
	long long until;
	long tries, wins;
};

static void *attempt(void *argument)
{
	struct count *count = argument;

	while (now_ms() < count->until) {
		count->race->attempt();
		count->tries++;
		if (count->race->won())
			count->wins++;
	}
	return NULL;
}

/* Two that try and two that disturb. */
static void run(const struct race *race, long ms)
{
	struct count counts[2] = { { race, now_ms() + ms, 0, 0 },
				   { race, now_ms() + ms, 0, 0 } };
	pthread_t trying[2], disturbing[2];

	over = false;
	for (int i = 0; i < 2; i++) {
		if (pthread_create(&disturbing[i], NULL, disturb,
				   (void *)race) ||
		    pthread_create(&trying[i], NULL, attempt, &counts[i]))
			exit(1);
	}
	for (int i = 0; i < 2; i++)
		(void)pthread_join(trying[i], NULL);
	over = true;
	for (int i = 0; i < 2; i++)
		(void)pthread_join(disturbing[i], NULL);
	(void)printf("%s: %ld tries, %ld wins\n", race->name,
		     counts[0].tries + counts[1].tries,
		     counts[0].wins + counts[1].wins);
}

/* What is harmless; `.git/hooks` is there already, with a sleeping hook. */
static void prepare(void)
{
	static const char *const folders[] = { "plain", "plain/hooks", "moving",
					       "node_modules", "nested",
					       "bare" };

	if (chdir(base))
		exit(1);
	for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++)
		(void)mkdir(folders[i], 0755);
	make_file("file", 0);
	make_file("plain/hooks/sleeping", 0);
	number = open("plain/hooks", O_RDONLY | O_DIRECTORY);
}

int main(int argc, char **argv)
{
	if (argc != 3)
		return 2;
	base = argv[1];
	prepare();
	for (size_t i = 0; i < sizeof(races) / sizeof(races[0]); i++)
		run(&races[i], strtol(argv[2], NULL, 10));
	return 0;
}
