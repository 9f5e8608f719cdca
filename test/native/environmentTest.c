/* environment.c: drop, keep, set, and what never goes in. */
#include "linux/launch/environment.h"
#include "check.h"

static struct json_arena arena;

/* Of and to one line, "A=1 B=2". */
static const char *build(const struct plan *plan, const char *inherited)
{
	static char line[1024], copy[1024];
	char *entries[16], **environment;
	size_t count = 0;

	strcpy(copy, inherited);
	for (char *e = strtok(copy, " "); e; e = strtok(NULL, " "))
		entries[count++] = e;
	entries[count] = NULL;
	line[0] = '\0';
	json_free(&arena);
	if (build_environment(plan, entries, &arena, &environment))
		return NULL;
	for (char **entry = environment; *entry; entry++) {
		if (entry != environment)
			strcat(line, " ");
		strcat(line, *entry);
	}
	free(environment);
	return line;
}

#define LIST(field, ...)                                          \
	.field = { (const char *const[]){ __VA_ARGS__ },          \
		   sizeof((const char *const[]){ __VA_ARGS__ }) / \
			   sizeof(char *) }

static void drops_and_keeps(void)
{
	const struct plan plan = { LIST(drop, "*_TOKEN", "AWS_*"),
				   LIST(keep, "MY_TOKEN") };

	CHECK_STRING(build(&plan, "A=1 GH_TOKEN=x AWS_=y MY_TOKEN=z TOKEN=t"),
		     "A=1 MY_TOKEN=z TOKEN=t");
}

static void sets(void)
{
	static const struct planned_variable set[] = {
		{ "A", "new", true },
		{ "B", "new", false },
		{ "C", "", false },
		{ "CORDON_BROKER", "fd:9", true },
	};
	const struct plan plan = { LIST(drop, "D*"), .set = set,
				   .set_count = ARRAY_SIZE(set) };

	CHECK_STRING(build(&plan, "A=old B=old D=1"), "B=old A=new C=");
}

static void set_wins_over_drop(void)
{
	static const struct planned_variable set[] = { { "D", "new", false } };
	const struct plan plan = { LIST(drop, "D"), .set = set,
				   .set_count = 1 };

	CHECK_STRING(build(&plan, "D=old"), "D=new");
}

static void never_the_broker(void)
{
	const struct plan plan = { LIST(keep, "CORDON_BROKER", "*") };

	CHECK_STRING(build(&plan, "CORDON_BROKER=fd:3 X=1"), "X=1");
}

static void drops_malformed(void)
{
	const struct plan plan = { 0 };
	char entries[600];

	(void)snprintf(entries, sizeof(entries),
		       "novalue =x %0300d=1 E= F==", 0);
	CHECK_STRING(build(&plan, entries), "E= F==");
	CHECK_STRING(build(&plan, ""), "");
}

int main(void)
{
	static const struct check_test tests[] = {
		{ "patterns drop, and keep wins over them", drops_and_keeps },
		{ "variables are set, over existing ones when told", sets },
		{ "a dropped variable can be set", set_wins_over_drop },
		{ "the way to the broker never goes in", never_the_broker },
		{ "entries that no pattern can mean are left out",
		  drops_malformed },
	};

	return check_run(tests, ARRAY_SIZE(tests));
}
