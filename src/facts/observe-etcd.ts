import type { Inventory, LinuxHost } from '../model/inventory.ts';
import { FactError } from '../errors.ts';
import { paths } from '../paths.ts';
import { lastLine } from '../shell/probe.ts';
import type { EtcdState } from './cluster.ts';
import { etcdCommand, parseEtcd } from './etcd-view.ts';
import type { Observed } from './fleet.ts';
import { framedScript, readFrames } from './framed-script.ts';
import type { Ask, ObserveTools } from './observe-linux.ts';

/** True if the host has been made a member of etcd; a text: why that is unknown. */
function hasMember({ facts }: Extract<Observed, { readonly os: 'linux' }>): boolean | string {
  try {
    return facts.kubernetesTraces.has(paths.etcdManifest);
  } catch (error) {
    if (error instanceof FactError) return error.message;
    throw error;
  }
}

/**
 * The etcd that kbuild built beside the control planes, as the first of its members that answers shows it; undefined where
 * the inventory has none. Every member's answer counts: without quorum no member gives one. Does not reject.
 */
export async function observeEtcd(
  inventory: Inventory,
  hosts: readonly Observed[],
  ask: (host: LinuxHost) => Ask,
  { nonce }: Pick<ObserveTools, 'nonce'>,
): Promise<EtcdState | undefined> {
  if (inventory.etcd.topology !== 'built') return undefined;
  const reasons: string[] = [];
  for (const observed of hosts) {
    if (observed.os !== 'linux' || observed.host.role !== 'etcd') continue;
    const { host } = observed;
    const has = hasMember(observed);
    if (has === false) continue;
    if (typeof has === 'string') {
      reasons.push(has);
      continue;
    }
    try {
      const word = nonce();
      const { stdout, stderr } = await ask(host)(framedScript({ etcd: etcdCommand(inventory, host) }, word));
      const answer = readFrames(stdout, stderr, word)['etcd'] ?? { failed: lastLine(stderr) };
      if ('failed' in answer) throw new Error(answer.failed);
      return { state: 'up', via: host.name, ...parseEtcd(answer.stdout) };
    } catch (error) {
      reasons.push(`${host.name}: ${error instanceof Error ? error.message : String(error)}`);
    }
  }
  return reasons.length === 0 ? { state: 'absent' } : { state: 'down', reason: reasons.join('; ') };
}
