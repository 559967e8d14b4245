import { paths } from '../../paths.ts';
import { sh } from '../../shell/sh.ts';
import { probe } from '../probe.ts';

/**
 * When the host's lock was last taken or released, as its file's time (s, with nanoseconds); `held` while somebody holds it,
 * `never` since the host booted. Two equal times: nobody held it between them.
 */
export const lockUsed = probe(
  sh`if [ -e ${paths.lock} ]; then
       read -r pid <${paths.lock} || pid=
       if [ -n "$pid" ] && [ "/proc/$pid/fd/9" -ef ${paths.lock} ]; then echo held; else stat -c %.Y ${paths.lock}; fi
     else echo never; fi`,
  (out) => out.trim(),
);
