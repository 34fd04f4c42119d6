dev_check() { fail 'not yet'; }
