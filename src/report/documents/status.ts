import * as z from 'zod';
import { cluster, document, flag, listOf, number, oneOf, text, texts } from './fields.ts';

const problem = z.object({
  kind: oneOf(
    ['cluster', 'endpoint', 'api-server', 'etcd', 'node', 'pod', 'certificate', 'unknown'],
    'What it is about. `unknown`: a fact could not be observed.',
  ),
  name: text("The node, host, member or pod, or the cluster's name."),
  message: text('What is wrong.'),
  remedy: text('What to do.').exactOptional(),
  refusal: text('The name of the refusal (exit 7) of commands that would change it: docs/refusals.md.').exactOptional(),
});

const node = z.object({
  name: text('Its name.'),
  role: text('`control-plane` or `worker`.'),
  ready: flag('True while its condition Ready is True.'),
  version: text('Of its kubelet.'),
  os: text('As the node reports it.'),
  runtime: text('Name and version of the container runtime.'),
  address: text('Its internal address.'),
  conditions: listOf(
    z.object({
      type: text('E.g. `DiskPressure`.'),
      status: text('`True`, `False` or `Unknown`.'),
      reason: text('Why.'),
    }),
    'Bad conditions: pressure, no network, not Ready.',
  ),
  cordoned: flag('True if it takes no new pods.'),
  taints: texts('As kubectl writes them: `key=value:effect`.'),
});

const versions = z.object({
  name: text('The host.'),
  apiServer: text('Empty where it runs none, or it is unknown; so are the others.'),
  controllerManager: text('Of the controller manager.'),
  scheduler: text('Of the scheduler.'),
  etcd: text("Of the member's server."),
  kubelet: text('Of the kubelet that reports to the API.'),
  installed: z
    .object({ kubelet: text('Package.'), kubeadm: text('Package.'), kubectl: text('Package.') })
    .meta({ description: 'Packages.' }),
  runtime: text('Name and version, as the node reports them.'),
});

const member = z.object({
  name: text('Its name in etcd.'),
  id: text('Hexadecimal.'),
  peer: text('URL for other members.'),
  learner: flag('True until it votes.'),
  healthy: flag('True if it answers and is part of the quorum.'),
  dbSize: number('Bytes.'),
});

const fields = {
  cluster,
  version: text('Of Kubernetes; empty where no cluster answers.'),
  endpoint: text('host:port of the API.'),
  healthy: flag('True exactly where there are no problems (exit 0).'),
  problems: listOf(problem, 'Why the cluster is not healthy (exit 5).'),
  warnings: texts('Future problems, in one line each.'),
  nodes: listOf(node, 'The nodes of the cluster. Empty if they were not read: `problems` says why.'),
  apiServers: listOf(
    z.object({ host: text('The control plane.'), readyz: text('`ok`, or why it is not ready.') }),
    "What each control plane's own API server answers.",
  ),
  versions: listOf(versions, 'What each host runs and has installed.'),
  etcd: z
    .object({
      topology: oneOf(['stacked', 'external'], 'Where etcd runs.'),
      leader: text("The leader's name; empty if unknown."),
      members: listOf(member, 'Members, learners included. Empty if they were not read: `problems` says why.'),
      alarms: texts('E.g. `NOSPACE`.'),
    })
    .meta({ description: 'etcd as its members show it.' }),
  certificates: listOf(
    z.object({ host: text('Where it is.'), name: text('As in `kbuild certs`.'), expires: text('ISO 8601.') }),
    'Certificates on the hosts.',
  ),
  drift: texts('What `up` would change.'),
  notObserved: texts('Only with `--no-hosts`: hosts that were not observed. Drift was not looked for then.').optional(),
  trouble: listOf(
    z.object({
      host: text('The host.'),
      name: text('Section of docs/windows-troubleshooting.md.'),
      found: text('What was found.'),
      cause: text('Why.'),
      remedy: text('What to do.'),
    }),
    'Known causes of what was found on Windows hosts.',
  ),
};

/** `kbuild status --json` */
export const status = document('What `kbuild status --json` prints, whatever its exit code.', fields);

const statusChange = z.object({
  change: oneOf(
    ['new', 'changed', 'gone', 'unknown', 'known'],
    'How it differs from the observation before. `unknown`: it could not be read. `known`: it can be read again.',
  ),
  kind: text('What it is about, e.g. `node`.'),
  name: text('Its name.'),
  before: text('What was known before.').exactOptional(),
  now: text('What is known now.').exactOptional(),
});

/** `kbuild status --watch --json` */
export const statusWatch = document('One line of `kbuild status --watch --json`: the status, and what changed.', {
  time: text('When it was observed: ISO 8601.'),
  ...fields,
  changes: listOf(statusChange, 'What changed since the line before; empty in the first one.'),
});
