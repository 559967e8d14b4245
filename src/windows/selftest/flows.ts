import { answers, ipOf, NO_LINUX, nodeToOtherNode, toNodes, toPlace, type Trial } from './bench.ts';
import {
  CONTENT,
  headlessOf,
  HOST_POD,
  LINUX_POD,
  MOUNTS,
  PLAIN_POD,
  podsOf,
  runtimeClassOf,
  serviceOf,
  SIDE_PORT,
  WEB_PORT,
  WINDOWS_USER,
} from './objects.ts';
import { fail, limit, notTried, type Outcome, pass } from './plan.ts';

/**
 * One thing that must work, e.g. a connection. If `attempt` rejects, the flow failed; the selftest retries until
 * `flowMs`.
 */
export interface Flow {
  readonly title: string;
  readonly attempt: (trial: Trial) => Promise<Outcome>;
}

const ONE_NODE = 'there is only one node of this build';

/** Adds the names of the group's pods to the parts of a trial. */
export const trialOf = (parts: Omit<Trial, 'names' | 'behind'>): Trial => {
  const names = podsOf(parts.group);
  const behind = [names.main, names.beside, names.across].filter((name) => name !== undefined);
  return { ...parts, names, behind };
};

/** A pod connects to another pod by its address. `none`: the reason if the group lacks one of them. */
function between(from: (trial: Trial) => string | undefined, to: (trial: Trial) => string | undefined, none: string) {
  return async (trial: Trial): Promise<Outcome> => {
    const [source, target] = [from(trial), to(trial)];
    if (source === undefined || target === undefined) return notTried(none);
    if (!trial.pods.has(source) || !trial.pods.has(target)) return notTried(NO_LINUX);
    return answers(trial.bench.dial(source, ipOf(trial, target), WEB_PORT), [target]);
  };
}

/** A pod connects to the group's Service by its cluster address. */
const toService =
  (from: (trial: Trial) => string) =>
  async (trial: Trial): Promise<Outcome> => {
    if (!trial.pods.has(from(trial))) return notTried(NO_LINUX);
    const { address } = await trial.bench.service(serviceOf(trial.group));
    return answers(trial.bench.dial(from(trial), address, 80), trial.behind);
  };

const onWindows =
  (attempt: (trial: Trial) => Outcome | Promise<Outcome>) =>
  async (trial: Trial): Promise<Outcome> =>
    trial.group.os === 'windows' ? attempt(trial) : notTried('it is about Windows');

async function nodePort(trial: Trial, dial: (address: string, port: number) => Promise<string>): Promise<Outcome> {
  const { nodePort: port } = await trial.bench.service(serviceOf(trial.group));
  const node = trial.pods.get(trial.names.main)?.node ?? '';
  return answers(dial(trial.nodeAddresses.get(node) ?? '', port), trial.behind);
}

async function mounted(trial: Trial, path: string, content: string): Promise<Outcome> {
  const output = await trial.bench.exec(trial.names.main, ['/agnhost', 'mounttest', `--file_content=${path}`]);
  return output.includes(content) ? pass : fail(`${path} holds something else: ${output.trim().slice(0, 100)}`);
}

/** Every flow, in the order of the report. */
export const flows: readonly Flow[] = [
  {
    title: 'two containers in a pod both answer',
    attempt: async ({ bench, names }) => {
      const hostnames = await Promise.all([WEB_PORT, SIDE_PORT].map((port) => bench.hostname(names.main, port)));
      return hostnames.every((name) => name === names.main)
        ? pass
        : fail(`they call themselves ${hostnames.join(' and ')}`);
    },
  },
  {
    title: 'containers of a pod reach each other by localhost',
    attempt: ({ bench, names }) => answers(bench.dial(names.main, 'localhost', SIDE_PORT), [names.main]),
  },
  {
    title: 'pod logs',
    attempt: async ({ bench, names }) => ((await bench.logs(names.main)) === '' ? fail('they are empty') : pass),
  },
  { title: 'exec', attempt: ({ bench, names }) => bench.exec(names.main, ['/agnhost', '--help']).then(() => pass) },
  {
    title: 'port-forward',
    attempt: ({ bench, names }) =>
      answers(
        bench.portForward(names.main, WEB_PORT).then((output) => output.trim()),
        [names.main],
      ),
  },
  {
    title: 'node to its own pod',
    attempt: ({ pods, names }) => {
      const pod = pods.get(names.main);
      return Promise.resolve(pod?.ready === true ? pass : fail(pod?.reason ?? 'it is not there'));
    },
  },
  {
    title: 'Linux node to pod',
    attempt: between(
      () => HOST_POD,
      ({ names }) => names.main,
      NO_LINUX,
    ),
  },
  {
    title: 'pod to pod on one host',
    attempt: between(
      ({ names }) => names.main,
      ({ names }) => names.beside,
      '',
    ),
  },
  {
    title: 'pod to pod across hosts',
    attempt: between(
      ({ names }) => names.main,
      ({ names }) => names.across,
      ONE_NODE,
    ),
  },
  {
    title: 'pod to pod by name',
    attempt: ({ bench, group, names, dnsDomain }) => {
      const name = `${names.beside}.${headlessOf(group)}.${bench.namespace}.svc.${dnsDomain}`;
      return answers(bench.dial(names.main, name, WEB_PORT), [names.beside]);
    },
  },
  { title: 'node to pod on another node', attempt: nodeToOtherNode },
  { title: 'pod to nodes (10250, 10256)', attempt: toNodes },
  {
    title: 'pod to Linux pod',
    attempt: between(
      ({ names }) => names.main,
      () => LINUX_POD,
      NO_LINUX,
    ),
  },
  {
    title: 'Linux pod to pod',
    attempt: between(
      () => LINUX_POD,
      ({ names }) => names.main,
      NO_LINUX,
    ),
  },
  { title: 'Service address from a pod', attempt: toService(({ names }) => names.main) },
  { title: 'Service address from a Linux pod', attempt: toService(() => LINUX_POD) },
  { title: 'Service address from a Linux node', attempt: toService(() => HOST_POD) },
  {
    title: 'Service by its short name from a pod',
    attempt: (trial) => answers(trial.bench.dial(trial.names.main, serviceOf(trial.group), 80), trial.behind),
  },
  {
    title: 'Service by DNS name from a pod',
    attempt: (trial) =>
      answers(
        trial.bench.dial(
          trial.names.main,
          `${serviceOf(trial.group)}.${trial.bench.namespace}.svc.${trial.dnsDomain}`,
          80,
        ),
        trial.behind,
      ),
  },
  {
    title: 'NodePort from outside',
    attempt: (trial) => nodePort(trial, (address, port) => trial.bench.fromOutside(address, port)),
  },
  {
    title: 'NodePort from a Linux node',
    attempt: (trial) =>
      trial.pods.has(HOST_POD)
        ? nodePort(trial, (address, port) => trial.bench.dial(HOST_POD, address, port))
        : Promise.resolve(notTried(NO_LINUX)),
  },
  { title: 'outside by address', attempt: (trial) => toPlace(trial, trial.outside.byAddress) },
  { title: 'outside by name', attempt: (trial) => toPlace(trial, trial.outside.byName) },
  {
    title: 'scheduled by RuntimeClass alone',
    attempt: onWindows((trial) => {
      const { byClass } = trial.names;
      if (byClass === undefined) return notTried('kbuild has no RuntimeClass for this build');
      const { node = '', ready, reason } = trial.pods.get(byClass) ?? {};
      if (ready !== true) return fail(`${runtimeClassOf(trial.group)!}: ${reason ?? 'it is not there'}`);
      return trial.group.nodes.some(({ name }) => name === node) || !trial.linuxNodes.includes(node)
        ? pass
        : fail(`it landed on ${node}`);
    }),
  },
  {
    title: 'the taint holds Linux pods off',
    attempt: onWindows(({ pods, linuxNodes }) => {
      const { node = '', reason = '' } = pods.get(PLAIN_POD) ?? {};
      if (node === '') return notTried(`the pod was put nowhere: ${reason}`);
      return linuxNodes.includes(node) ? pass : fail(`a pod without a toleration landed on ${node}`);
    }),
  },
  { title: 'ConfigMap in a volume', attempt: (trial) => mounted(trial, MOUNTS.config, CONTENT.config) },
  { title: 'Secret in a volume', attempt: (trial) => mounted(trial, MOUNTS.secret, CONTENT.secret) },
  {
    title: 'runAsUserName',
    attempt: onWindows(async ({ bench, names }) => {
      const user = (await bench.exec(names.asUser!, ['cmd.exe', '/c', 'echo %USERNAME%'])).trim();
      return user === WINDOWS_USER ? pass : fail(`it runs as ${user}`);
    }),
  },
  {
    title: 'Service address from the Windows node itself',
    attempt: onWindows(() => limit('Windows nodes do not reach Service addresses; only their pods do')),
  },
  {
    title: 'NodePort from the Windows node itself',
    attempt: onWindows(() => limit('Windows nodes do not reach their own NodePorts')),
  },
  {
    title: 'ping to the outside',
    attempt: onWindows(() => limit('ICMP is not translated: try the outside by TCP')),
  },
];
