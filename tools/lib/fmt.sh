dev_fmt() { fail 'not yet'; }
