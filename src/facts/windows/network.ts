import { z } from 'zod';
import { windowsPaths } from '../../paths.ts';
import { powershell } from '../../templates.ts';
import { textOf } from './files.ts';
import { watchedMap } from '../watched.ts';
import { windowsProbe } from './windows-probe.ts';

const text = z.string();
const index = z.number().int();

const NETWORK = z.object({
  adapters: z.array(z.object({ index, name: text, description: text, mac: text, status: text })),
  addresses: z.array(z.object({ index, name: text, address: text, bits: index, origin: text })),
  defaultRoutes: z.array(z.object({ index, gateway: text })),
  /** To 169.254.169.254 alone. */
  metadataRoute: z.boolean(),
  /** `Public`, `Private` or `DomainAuthenticated`: which of the firewall's profiles holds there. */
  networks: z.array(z.object({ index, category: text })),
});

/** Adapters, IPv4 addresses and routes of a Windows host. */
export type WindowsNetworkView = Readonly<z.output<typeof NETWORK>>;

export const network = windowsProbe(
  powershell('windows/probe-network.ps1'),
  NETWORK,
  (said): WindowsNetworkView => said,
);

const RULE = z.object({
  name: text,
  enabled: z.boolean(),
  direction: text,
  action: text,
  profile: text,
  protocol: text,
  port: text,
});

/** A rule of the firewall. */
export type FirewallRule = Readonly<z.output<typeof RULE>>;

/** The firewall's profiles that are on, and those of the named rules that are there, by name. */
export const firewall = (names: readonly string[]) =>
  windowsProbe(
    powershell('windows/probe-firewall.ps1', { Names: names }),
    z.object({ profiles: z.array(text), rules: z.array(RULE) }),
    (said): { readonly profiles: readonly string[]; readonly rules: ReadonlyMap<string, FirewallRule> } => ({
      profiles: said.profiles,
      rules: watchedMap(
        names,
        said.rules.map((rule) => [rule.name, rule]),
      ),
    }),
  );

const HNS = z.object({
  /** `subnet`: the addresses of its pods; empty where it has none. */
  networks: z.array(z.object({ id: text, name: text, type: text, managementAddress: text, subnet: text })),
  endpoints: z.array(z.object({ id: text, name: text, network: text, address: text })),
});

/** What the Host Networking Service knows. */
export type HnsView = Readonly<z.output<typeof HNS>>;

export const hns = windowsProbe(powershell('windows/probe-hns.ps1'), HNS, (said): HnsView => said);

/** An address of the node's own network of pods that was reserved for kube-proxy. */
export interface SourceVip {
  readonly subnet: string;
  readonly address: string;
}

const SOURCE_VIP = z.object({ subnet: text, address: text });

/** What was reserved for kube-proxy; `absent`, also where a file of another form lies there. */
export const sourceVip = textOf(windowsPaths.sourceVipFile, (content): SourceVip | 'absent' => {
  if (content === 'absent') return 'absent';
  try {
    return SOURCE_VIP.safeParse(JSON.parse(content)).data ?? 'absent';
  } catch {
    return 'absent';
  }
});

/** An address to be reached by TCP. */
export interface ReachTarget {
  readonly host: string;
  readonly port: number;
}

/** Time that each address has to accept a connection, in ms. */
const REACH_MS = 3000;

/** Why addresses cannot be reached, by `host:port`; an empty text when they can. */
export const reach = (targets: readonly ReachTarget[]) =>
  windowsProbe(
    powershell('windows/probe-reach.ps1', {
      Targets: targets.map(({ host, port }) => ({ host, port })),
      TimeoutMs: REACH_MS,
    }),
    z.object({ answers: z.array(z.object({ host: text, port: index, problem: text })) }),
    (said): ReadonlyMap<string, string> =>
      new Map(said.answers.map(({ host, port, problem }) => [`${host}:${String(port)}`, problem])),
  );

const LISTENER = z.object({ protocol: z.enum(['tcp', 'udp']), port: index, program: text });

/** Who listens at these ports. */
export const listeners = (tcp: readonly number[], udp: readonly number[]) =>
  windowsProbe(
    powershell('windows/probe-listeners.ps1', { Tcp: tcp, Udp: udp }),
    z.object({ listeners: z.array(LISTENER) }),
    (said): readonly Readonly<z.output<typeof LISTENER>>[] => said.listeners,
  );

/** The named variables of the machine's environment that are set. */
export const environment = (names: readonly string[]) =>
  windowsProbe(
    powershell('windows/probe-environment.ps1', { Names: names }),
    z.object({ variables: z.array(z.object({ name: text, value: text })) }),
    (said): ReadonlyMap<string, string> => new Map(said.variables.map(({ name, value }) => [name, value])),
  );

/** Processes that Defender leaves alone, by file name or path; `absent` where there is no Defender. */
export const defender = windowsProbe(
  powershell('windows/probe-defender.ps1'),
  z.object({ present: z.boolean(), excludedProcesses: z.array(text) }),
  (said): readonly string[] | 'absent' => (said.present ? said.excludedProcesses : 'absent'),
);
