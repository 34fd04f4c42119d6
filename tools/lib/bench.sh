dev_bench() { fail 'not yet'; }
