import * as z from 'zod';
import {
  change,
  changes,
  cluster,
  document,
  finding,
  flag,
  listOf,
  number,
  oneOf,
  restarts,
  text,
  texts,
  waitingChange,
} from './fields.ts';

const problem = z.object({
  at: text('`file:line:column`, or the file alone.'),
  path: text('The setting, e.g. `hosts[1].role`; empty for the whole file.'),
  message: text('What is wrong and what is allowed.'),
});

/** `kbuild validate --json` */
export const validate = document('What `kbuild validate --json` prints.', {
  valid: flag('True exactly where there are no problems.'),
  problems: listOf(problem, 'Mistakes, each with its place.'),
  warnings: listOf(problem, 'What is allowed, and worth a thought.'),
});

/** `kbuild check --json` */
export const check = document('What `kbuild check --json` prints.', {
  cluster,
  hosts: texts('The hosts that were checked.'),
  findings: listOf(finding, 'What the checks found; empty where all is well.'),
});

/** `kbuild plan --json` */
export const plan = document('What `kbuild plan --json` prints.', {
  cluster,
  changes: listOf(
    change.extend({ diff: text('With `--diff`: what it would change, line by line.').exactOptional() }),
    'What `up` would change, in the order of its phases.',
  ),
  waits: listOf(change, 'What `up` would only wait for.'),
  restarts,
  leftOut: z
    .object({
      hosts: texts('Hosts that do not answer.'),
      changes: listOf(waitingChange, 'Changes that wait for them.'),
    })
    .meta({ description: 'What `up` would leave out.' }),
  findings: listOf(finding, 'What the checks found.'),
});

/** `kbuild facts --json` */
export const facts = document(
  'What `kbuild facts` prints. The facts themselves can change in every version of kbuild.',
  {
    cluster,
    hosts: z
      .record(z.string(), z.record(z.string(), z.unknown()))
      .meta({ description: 'Facts by host. One that could not be read is `{"unknown": REASON}`.' }),
    unreachable: z.record(z.string(), z.string()).meta({ description: 'Why a host could not be observed, by host.' }),
    view: z.record(z.string(), z.unknown()).meta({ description: 'The cluster as its API and etcd show it.' }),
  },
);

const lock = z.object({
  holder: z.string().nullable().meta({ description: 'The holder; null: it is not locked.' }),
  freed: flag('True if `--force` freed it now.'),
  notFreed: text('Why `--force` did not free it.').exactOptional(),
});

/** `kbuild unlock --json` */
export const unlock = document('What `kbuild unlock --json` prints.', {
  locks: listOf(lock.extend({ host: text('The host.') }), 'The lock of each host.'),
  lease: lock.nullable().meta({ description: "The cluster's Lease; null where no API answers." }),
});

/** `kbuild certs --json` */
export const certs = document('What `kbuild certs --json` prints.', {
  cluster,
  certificates: listOf(
    z.object({
      host: text('Where it is.'),
      name: text('As kubeadm calls it, e.g. `apiserver` or `etcd-server`; `kubelet-client` and the like of a kubelet.'),
      begins: text('ISO 8601.'),
      expires: text('ISO 8601.'),
      days: number('Whole days until it expires by the clock of the host; negative if it has expired.'),
      serial: text('Hexadecimal.'),
      subject: text('Common name, or the whole subject where it has none.'),
      issuer: text('Common name of its authority.'),
      names: texts('DNS names and addresses that it is for.'),
      renewedBy: oneOf(['kbuild', 'kubelet', 'you', 'nobody'], 'Who renews it.'),
    }),
    'Soonest end first.',
  ),
  unknown: listOf(
    z.object({ host: text('The host.'), message: text('Why.') }),
    'Hosts whose certificates are not known.',
  ),
});

/** `kbuild reboot --plan --json` */
export const rebootPlan = document('What `kbuild reboot --plan --json` prints.', { cluster, changes, restarts });

/** The changes that a move of the endpoint would make. */
export const moveEndpointPlan = document('What `kbuild move-endpoint --plan --json` prints.', {
  cluster,
  changes,
  restarts,
});

/** `kbuild certs renew-ca --plan --json`, `kbuild certs rotate-ca --plan --json` */
export const authorityPlan = document(
  'What `kbuild certs renew-ca --plan --json` and `kbuild certs rotate-ca --plan --json` print.',
  { cluster, changes, restarts },
);
