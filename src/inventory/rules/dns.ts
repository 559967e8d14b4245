import { quantityOf } from '../../topology/quantity.ts';
import { problem, type Rule, type Violation } from './rule.ts';

/** kubeadm's own limits and requests of CoreDNS (cmd/kubeadm/app/phases/addons/dns/manifests.go). */
const KUBEADMS = { requests: { cpu: '100m', memory: '70Mi' }, limits: { memory: '170Mi' } } as const;

/** The API refuses pods that request more than their limit, and `kubeadm init` would fail half-way. */
export const dnsResources: Rule = ({ dns: { resources } }) =>
  (['cpu', 'memory'] as const).flatMap((name) => {
    const requests: Readonly<Record<string, string>> = { ...KUBEADMS.requests, ...resources?.requests };
    const limits: Readonly<Record<string, string>> = { ...KUBEADMS.limits, ...resources?.limits };
    const limit = limits[name];
    if (limit === undefined || quantityOf(requests[name]!)! <= quantityOf(limit)!) return [];
    const of = resources?.limits?.[name] === undefined ? "kubeadm's limit" : 'the limit';
    return [
      problem(
        ['dns', 'resources', resources?.requests?.[name] === undefined ? 'limits' : 'requests'],
        `${name}: the request ${requests[name]!} is more than ${of} ${limit}; set both`,
      ),
    ];
  });

/** Words of a block as CoreDNS reads them: quoted text is one word, and `#` begins a comment. */
const wordsOf = (block: string): readonly string[] =>
  block.match(/"(?:\\.|[^"\\])*"|#[^\n]*|[^\s"#]\S*/g)?.filter((word) => !word.startsWith('#')) ?? [];

/** Why a block is not closed in itself: then it would change those around it. */
function unbalanced(block: string): string | undefined {
  let depth = 0;
  for (const word of wordsOf(block)) {
    if (word === '{') depth += 1;
    else if (word === '}') depth -= 1;
    if (depth < 0) return 'has a "}" without its "{"; write the lines of the block without its own braces';
  }
  return depth === 0 ? undefined : 'has a "{" without its "}"';
}

/** True if names of one zone lie in the other. */
const nested = (a: string, b: string): boolean => a === b || a.endsWith(`.${b}`) || b.endsWith(`.${a}`);

/** Blocks are whole, and none takes names of the cluster away from kubeadm's block: CoreDNS uses the one with the longest zone. */
export const dnsBlocks: Rule = ({ dns: { blocks }, kubernetes: { dnsDomain } }) => {
  const seen = new Map<string, string>();
  return Object.entries(blocks).flatMap(([key, block]): readonly Violation[] => {
    const path = ['dns', 'blocks', key];
    const [zone = '', port = '53'] = key.split(':');
    const earlier = seen.get(`${zone}:${port}`);
    seen.set(`${zone}:${port}`, key);
    if (earlier !== undefined) return [problem(path, `is the zone of "${earlier}"; write one block`)];
    if (Number(port) > 65_535) return [problem(path, `has no port of 1 to 65535`)];
    if (port === '53' && nested(zone, dnsDomain))
      return [
        problem(
          path,
          `would answer for ${dnsDomain} instead of the cluster: no Service would have a name; choose another zone`,
        ),
      ];
    const why = unbalanced(block);
    return why === undefined ? [] : [problem(path, why)];
  });
};

/** kubeadm has no patch for what it does not deploy. */
export const dnsOfKubeadm: Rule = ({ dns: { replicas, resources, blocks }, kubeadm }) => {
  const own = kubeadm.cluster['dns'] as { readonly disabled?: unknown } | null | undefined;
  const isSet = replicas !== undefined || resources !== undefined || Object.keys(blocks).length > 0;
  return isSet && own?.disabled === true
    ? [
        problem(
          ['dns'],
          'is for the CoreDNS of kubeadm, which kubeadm.cluster.dns.disabled leaves out; remove one of them',
        ),
      ]
    : [];
};
