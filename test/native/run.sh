#!/bin/sh
# Runs the C unit tests named by their binaries and adds their lines up.
# Fails when one fails, or when none ran.
passed=0
failed=0
for test in "$@"; do
	name=$(basename "$test")
	output=$("$test" 2>&1)
	status=$?
	ok=$(printf '%s\n' "$output" | grep -c '^ok - ')
	bad=$(printf '%s\n' "$output" | grep -c '^not ok - ')
	if [ "$status" -ne 0 ] && [ "$bad" -eq 0 ]; then
		bad=1 # it crashed, or a sanitizer ended it
	fi
	[ "$status" -eq 0 ] || printf '%s:\n%s\n' "$name" "$output"
	passed=$((passed + ok))
	failed=$((failed + bad))
done
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
