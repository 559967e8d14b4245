import type { Inventory } from '../inventory/inventory.ts';
import { readiness, type Status } from './status.ts';
import { counted, hostList, visible } from './text.ts';

/**
 * Text in a label of Mermaid. Within quotes only a quote ends it; `#name;` is an entity, and `<`, `>` and `&` are HTML
 * in some programs that draw it. A backtick at the beginning would make it Markdown.
 */
const label = (...lines: readonly string[]): string =>
  `"${lines
    .map((line) => visible(line).replaceAll(/[#&<>"`\n\\]/g, (character) => `#${String(character.charCodeAt(0))};`))
    .join('<br/>')}"`;

type Node = Status['nodes'][number];

const isReady = (node: Node): boolean => readiness(node) === 'yes';

const KINDS: Readonly<Record<string, string>> = {
  none: 'no load balancer',
  external: 'external load balancer',
  local: 'haproxy on every node',
};

/** The balancer that serves the endpoint, in words. */
function balancerLines({ loadBalancer, hosts, endpoint }: Inventory): readonly string[] {
  const balancers = hosts.filter(({ role }) => role === 'load-balancer').map(({ name }) => name);
  const { kind } = loadBalancer;
  const address = 'address' in loadBalancer ? loadBalancer.address : undefined;
  return [
    endpoint,
    `${KINDS[kind] ?? kind}${balancers.length === 0 ? '' : ` on ${hostList(balancers)}`}`,
    ...(address === undefined ? [] : [`virtual address ${address}`]),
  ];
}

/** The id of what a line of the graph connects. Names of hosts are labels only: an id like `end` would be a keyword. */
const id = (kind: string, number: number): string => `${kind}${String(number)}`;

function controlPlanes(nodes: readonly Node[], { apiServers }: Status): readonly string[] {
  return nodes.map((node, at) => {
    const api = apiServers.find(({ host }) => host === node.name)?.readyz ?? 'unknown';
    const state = isReady(node) && api === 'ok' ? 'good' : 'bad';
    const title = label(node.name, node.version, `ready: ${readiness(node)}`, `API server: ${api}`);
    return `    ${id('control', at)}[${title}]:::${state}`;
  });
}

const members = ({ etcd }: Status): readonly string[] =>
  etcd.members.length === 0
    ? [`    etcd0[(${label('members: not known')})]`]
    : etcd.members.map(({ name, id: number, healthy, learner }, at) => {
        const title = name === '' ? number : name;
        const role = learner ? 'learner' : title === etcd.leader ? 'leader' : 'member';
        const shown = label(title, role, healthy ? 'healthy' : 'NOT HEALTHY');
        return `    ${id('etcd', at)}[(${shown})]:::${healthy ? 'good' : 'bad'}`;
      });

/** Workers of the same system and version share a box: a large cluster stays a picture. */
function workerGroups(nodes: readonly Node[]): readonly string[] {
  const groups = new Map<string, Node[]>();
  for (const node of nodes) {
    const key = JSON.stringify([node.os, node.version]);
    groups.set(key, [...(groups.get(key) ?? []), node]);
  }
  return [...groups.values()].map((group, at) => {
    const bad = group.filter((node) => !isReady(node)).map(({ name }) => name);
    const [{ os, version }] = group as [Node];
    const state = bad.length === 0 ? 'all ready' : `NOT READY: ${hostList(bad)}`;
    const names = hostList(group.map(({ name }) => name));
    const title = label(counted(group.length, 'worker'), names, `${os}, ${version}`, state);
    return `    ${id('workers', at)}[${title}]:::${bad.length === 0 ? 'good' : 'bad'}`;
  });
}

const box = (name: string, title: string, lines: readonly string[]): readonly string[] =>
  lines.length === 0 ? [] : [`  subgraph ${name}[${label(title)}]`, ...lines, '  end'];

/** The cluster as a flowchart of Mermaid, as it was observed: unknown where no cluster answers. */
export function mermaid(inventory: Inventory, status: Status): string {
  if (status.version === '') {
    const why = status.problems[0]?.message ?? 'no cluster answers';
    return `flowchart TB\n  cluster[${label(status.cluster, `unknown: ${why}`)}]\n`;
  }
  const controls = status.nodes.filter(({ role }) => role === 'control-plane');
  const workers = status.nodes.filter(({ role }) => role !== 'control-plane');
  const lines = [
    'flowchart TB',
    `  endpoint(${label(`${status.cluster}: Kubernetes ${status.version}`, ...balancerLines(inventory))})`,
    ...box('controls', 'control planes', controlPlanes(controls, status)),
    ...box('members', `etcd, ${status.etcd.topology}`, members(status)),
    ...box('workers', 'workers', workerGroups(workers)),
    ...(controls.length > 0 ? ['  endpoint --> controls', '  controls --> members'] : []),
    ...(workers.length > 0 ? ['  workers --> endpoint'] : []),
    '  classDef good stroke:#2da44e,stroke-width:2px',
    '  classDef bad stroke:#cf222e,stroke-width:4px',
  ];
  return `${lines.join('\n')}\n`;
}
