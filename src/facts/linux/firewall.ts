import { script } from '../../templates.ts';
import { probe, unexpected } from '../../shell/probe.ts';
import { firewalld } from './firewall-firewalld.ts';
import { nftables } from './firewall-nftables.ts';
import type { Firewall } from './firewall-rules.ts';
import { ufw } from './firewall-ufw.ts';

/**
 * The host's own firewall and what it lets in and through; empty where nothing drops. Chains of ufw and firewalld are read
 * through their own programs. The FORWARD chain of iptables is left out: the network plugin and kube-proxy write into it.
 */
export const firewall = probe(script('linux/probe-firewall.sh'), (out): readonly Firewall[] => {
  const [kind, ...rest] = out.split('\n');
  const text = rest.join('\n');
  if (kind === 'ufw') return ufw(text);
  if (kind === 'firewalld') return firewalld(text);
  if (kind === 'nftables') return nftables(text);
  if (kind === 'none') return [];
  throw unexpected(out);
});
