import { linuxNodes } from '../../inventory/hosts.ts';
import type { Inventory } from '../../inventory/inventory.ts';
import { limiter } from '../../limit.ts';
import { type JsonObject, objectOf } from '../../shell/decode.ts';
import { lines, probe, type Probe } from '../../shell/probe.ts';
import { script } from '../../templates.ts';
import { Detour } from './https-peer.ts';
import { parseNodes } from './objects.ts';
import type { Over } from './over-channel.ts';

/** Requests to kubelets at a time: the API server passes each of them on to another host. */
const AT_ONCE = 16;

/** Lines of node, tab and answer in one line. What is no answer of a kubelet is left out: the node is not known. */
const parseKubelets = (out: string): ReadonlyMap<string, JsonObject> =>
  new Map(
    lines(out).flatMap((line) => {
      const [name = '', answer = ''] = line.split('\t');
      try {
        return [[name, objectOf(objectOf(JSON.parse(answer))['kubeletconfig'])] as const];
      } catch {
        return [];
      }
    }),
  );

/** A kubelet that does not answer is no error of the others: its node is missing. */
const over =
  (names: ReadonlySet<string>, nodes: Over): Over =>
  async (channel) => {
    const places = limiter(AT_ONCE);
    const configPath = (name: string): string => `/api/v1/nodes/${encodeURIComponent(name)}/proxy/configz`;
    // Asked beside the nodes where that is few: to wait for them costs a round trip. What is asked twice is sent once.
    if (names.size <= AT_ONCE) for (const name of names) channel.get(configPath(name)).catch(() => undefined);
    const ready = parseNodes(await nodes(channel)).filter((node) => node.ready && names.has(node.name));
    const answers = ready.map(({ name }) =>
      places.run(async () => {
        try {
          const answer = await channel.get(configPath(name));
          return `${name}\t${answer.replaceAll('\n', ' ')}`;
        } catch (error) {
          if (error instanceof Detour) throw error;
          return '';
        }
      }),
    );
    return (await Promise.all(answers)).join('\n');
  };

/** What the kubelets of Linux nodes run with. `nodes`: reads the cluster's nodes; only those that are ready are asked. */
export function kubeletsProbe(
  inventory: Inventory,
  tool: readonly string[],
  nodes: Over,
): Probe<ReadonlyMap<string, JsonObject>> & { readonly over: Over } {
  const names = linuxNodes(inventory).map(({ name }) => name);
  return {
    ...probe(script('cluster/kubelets.sh', { KUBECTL: tool, NODES: names }), parseKubelets),
    over: over(new Set(names), nodes),
  };
}
