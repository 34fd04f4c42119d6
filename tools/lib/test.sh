dev_test() { fail 'not yet'; }
