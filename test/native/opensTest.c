/* opens.c: which entry covers which path, and which stay. */
#include "linux/supervisor/opens.h"
#include "supervised.h"

static const struct identity any;

static void add(struct supervised *s, enum access access, const char *path)
{
	CHECK(opens_add(&s->sup, access, path, &any) == 0);
}

static void covers(void)
{
	struct supervised s;

	supervised_open(&s);
	add(&s, ACCESS_WRITE, "/none/a");
	add(&s, ACCESS_READ, "/none/a/b");
	CHECK(opens_cover(&s.sup, ACCESS_WRITE, "/none/a"));
	CHECK(opens_cover(&s.sup, ACCESS_WRITE, "/none/a/b/c"));
	CHECK(!opens_cover(&s.sup, ACCESS_WRITE, "/none"));
	CHECK(!opens_cover(&s.sup, ACCESS_WRITE, "/none/a.b"));
	CHECK(!opens_cover(&s.sup, ACCESS_READ, "/none/a"));
	CHECK(opens_cover(&s.sup, ACCESS_READ, "/none/a/b/c"));
	CHECK(!opens_cover(&s.sup, ACCESS_GIT, "/none/a"));
	supervised_close(&s);
}

/* What lies in a granted folder and is protected there is not covered. */
static void covers_within(void)
{
	struct supervised s;

	supervised_open(&s);
	add(&s, ACCESS_WRITE, "/none");
	CHECK(!opens_cover_within(&s.sup, ACCESS_WRITE, "/none/.vscode/a",
				  "/none/.vscode"));
	add(&s, ACCESS_WRITE, "/none/.vscode/a");
	CHECK(opens_cover_within(&s.sup, ACCESS_WRITE, "/none/.vscode/a",
				 "/none/.vscode"));
	CHECK(!opens_cover_within(&s.sup, ACCESS_WRITE, "/none/.vscode/b",
				  "/none/.vscode"));
	supervised_close(&s);
}

static void git_allowed(void)
{
	struct supervised s;

	supervised_open(&s);
	s.plan.files.git = GIT_ALLOW;
	CHECK(opens_cover(&s.sup, ACCESS_GIT, "/none/.git"));
	CHECK(!opens_cover(&s.sup, ACCESS_WRITE, "/none/.git"));
	s.plan.files.git = GIT_PROTECT;
	CHECK(!opens_cover(&s.sup, ACCESS_GIT, "/none/.git"));
	supervised_close(&s);
}

static void removes(void)
{
	struct supervised s;
	unsigned before;
	bool busy = true;

	supervised_open(&s);
	add(&s, ACCESS_SOCKET, "/none/a");
	add(&s, ACCESS_SOCKET, "/none/a");
	before = opens_generation(&s.sup);
	CHECK(opens_remove(&s.sup, ACCESS_READ, "/none/a", &busy) == -ENOENT);
	CHECK(opens_generation(&s.sup) == before);
	CHECK(opens_remove(&s.sup, ACCESS_SOCKET, "/none/a", &busy) == 0);
	CHECK(!busy && opens_generation(&s.sup) != before);
	CHECK(!opens_cover(&s.sup, ACCESS_SOCKET, "/none/a"));
	supervised_close(&s);
}

static void is_bounded(void)
{
	struct supervised s;
	char path[32];

	supervised_open(&s);
	for (int i = 0; i < OPENS_MAX; i++) {
		(void)snprintf(path, sizeof(path), "/none/%d", i);
		add(&s, ACCESS_SOCKET, path);
	}
	CHECK(opens_add(&s.sup, ACCESS_SOCKET, "/none/more", &any) == -ENOSPC);
	CHECK(opens_add(&s.sup, ACCESS_SOCKET, "/none/0", &any) == 0);
	supervised_close(&s);
}

static bool is_b(const struct open *open, void *of)
{
	(void)of;
	return strcmp(open->path, "/none/b") == 0;
}

static void note(const struct open *open, int err, bool busy, void *of)
{
	CHECK(err == 0 && !busy);
	(void)strcat(strcat(of, open->path), " ");
}

/* A broker that takes a run over says what its record still has. */
static void keeps(void)
{
	static const struct open planned = { ACCESS_WRITE, "/none/planned" };
	char removed[64] = "";
	struct opens_keeping keeping = { is_b, note, removed };
	struct supervised s;

	supervised_open(&s);
	opens_finish(&s.sup);
	s.plan.opens = &planned;
	s.plan.open_count = 1;
	CHECK(opens_start(&s.sup) == 0);
	add(&s, ACCESS_WRITE, "/none/a");
	add(&s, ACCESS_WRITE, "/none/b");
	add(&s, ACCESS_SOCKET, "/none/c");
	opens_keep(&s.sup, &keeping);
	CHECK_STRING(removed, "/none/c /none/a ");
	CHECK(opens_has(&s.sup, ACCESS_WRITE, "/none/planned"));
	CHECK(opens_has(&s.sup, ACCESS_WRITE, "/none/b"));
	CHECK(!opens_has(&s.sup, ACCESS_WRITE, "/none/a"));
	CHECK(!opens_has(&s.sup, ACCESS_SOCKET, "/none/c"));
	supervised_close(&s);
}

/* Of what a path leads to: another folder there is another one. */
static void knows_again(void)
{
	char folder[] = "/tmp/opensTestXXXXXX", inside[64];
	struct live_mount mount = { 0 };
	struct identity judged;
	struct supervised s;

	supervised_open(&s);
	CHECK(mkdtemp(folder) != NULL);
	(void)snprintf(inside, sizeof(inside), "%s/a", folder);
	CHECK(!identify(inside).known);
	judged = identify(folder);
	CHECK(judged.known);
	judged.inode++;
	CHECK(live_mount_attach(&s.sup, folder, &judged, &mount) == -ESTALE);
	CHECK(symlink("/", inside) == 0);
	CHECK(live_mount_attach(&s.sup, inside, &any, &mount) == -ELOOP);
	CHECK(live_mount_attach(&s.sup, "/", &any, &mount) == -EINVAL);
	CHECK(mount.id == 0);
	CHECK(unlink(inside) == 0 && rmdir(folder) == 0);
	supervised_close(&s);
}

int main(void)
{
	static const struct check_test tests[] = {
		{ "an entry covers itself and what is below", covers },
		{ "a protected place is covered from inside it",
		  covers_within },
		{ "git may be allowed by the plan", git_allowed },
		{ "what is removed is closed, and that is seen", removes },
		{ "the entries of a run are bounded", is_bounded },
		{ "of another broker's record only the plan's own stay besides",
		  keeps },
		{ "another folder at the same path is not mounted",
		  knows_again },
	};

	return check_run(tests, ARRAY_SIZE(tests));
}
