dev_demo() { fail 'not yet'; }
