import * as z from 'zod';
import { windowsPaths } from '../paths.ts';
import { watchedMap } from '../shell/watched.ts';
import { powershell } from '../templates.ts';
import { textOf, windowsProbe } from './files.facts.ts';

const text = z.string().min(1);
const optional = z.string();
const index = z.number().int();

const NETWORK = z.object({
  adapters: z.array(z.object({ index, name: text, description: optional, mac: optional, status: text })),
  addresses: z.array(z.object({ index, name: optional, address: text, bits: index, origin: text })),
  defaultRoutes: z.array(z.object({ index, gateway: text })),
  /** True if a route to 169.254.169.254/32 exists. */
  metadataRoute: z.boolean(),
  /** The firewall profile of the network: `Public`, `Private` or `DomainAuthenticated`. */
  networks: z.array(z.object({ index, category: text })),
});

/** Adapters, IPv4 addresses and routes of a Windows host. */
type WindowsNetworkView = Readonly<z.output<typeof NETWORK>>;

export const network = windowsProbe(
  powershell('windows/probe-network.ps1'),
  NETWORK,
  (answer): WindowsNetworkView => answer,
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

/** A rule of Windows Firewall. */
export type FirewallRule = Readonly<z.output<typeof RULE>>;

/** The firewall's enabled profiles, and the named rules that exist. */
export const firewall = (names: readonly string[]) =>
  windowsProbe(
    powershell('windows/probe-firewall.ps1', { Names: names }),
    z.object({ profiles: z.array(text), rules: z.array(RULE) }),
    (answer): { readonly profiles: readonly string[]; readonly rules: ReadonlyMap<string, FirewallRule> } => ({
      profiles: answer.profiles,
      rules: watchedMap(
        names,
        answer.rules.map((rule) => [rule.name, rule]),
      ),
    }),
  );

const HNS = z.object({
  /** `subnet`: the pod subnet in CIDR notation; empty if the network has none. */
  networks: z.array(
    z.object({ id: text, name: optional, type: optional, managementAddress: optional, subnet: optional }),
  ),
  endpoints: z.array(z.object({ id: text, name: optional, network: optional, address: optional })),
});

/** Networks and endpoints of the Host Networking Service. */
type HnsView = Readonly<z.output<typeof HNS>>;

export const hns = windowsProbe(powershell('windows/probe-hns.ps1'), HNS, (answer): HnsView => answer);

/** The address of the node's pod subnet that is reserved for kube-proxy. */
interface SourceVip {
  readonly subnet: string;
  readonly address: string;
}

const SOURCE_VIP = z.object({ subnet: text, address: text });

/** The address that is reserved for kube-proxy; `absent` if the file does not exist or has another format. */
export const sourceVip = textOf(windowsPaths.sourceVipFile, (content): SourceVip | 'absent' => {
  if (content === 'absent') return 'absent';
  try {
    return SOURCE_VIP.safeParse(JSON.parse(content)).data ?? 'absent';
  } catch {
    return 'absent';
  }
});

/** An address to which the host must be able to connect by TCP. */
export interface ReachTarget {
  readonly host: string;
  readonly port: number;
}

/** Time limit for one connection, in ms. */
const REACH_MS = 3000;

/** For each `host:port`, why the host cannot connect; empty if it can. */
export const reach = (targets: readonly ReachTarget[]) =>
  windowsProbe(
    powershell('windows/probe-reach.ps1', {
      Targets: targets.map(({ host, port }) => ({ host, port })),
      TimeoutMs: REACH_MS,
    }),
    z.object({ answers: z.array(z.object({ host: text, port: index, problem: optional })) }),
    (answer): ReadonlyMap<string, string> =>
      new Map(answer.answers.map(({ host, port, problem }) => [`${host}:${String(port)}`, problem])),
  );

const LISTENER = z.object({ protocol: z.enum(['tcp', 'udp']), port: index, program: optional });

/** Programs that listen at these ports. */
export const listeners = (tcp: readonly number[], udp: readonly number[]) =>
  windowsProbe(
    powershell('windows/probe-listeners.ps1', { Tcp: tcp, Udp: udp }),
    z.object({ listeners: z.array(LISTENER) }),
    (answer): readonly Readonly<z.output<typeof LISTENER>>[] => answer.listeners,
  );

/** The named variables of the machine's environment that are set. */
export const environment = (names: readonly string[]) =>
  windowsProbe(
    powershell('windows/probe-environment.ps1', { Names: names }),
    z.object({ variables: z.array(z.object({ name: text, value: text })) }),
    (answer): ReadonlyMap<string, string> => new Map(answer.variables.map(({ name, value }) => [name, value])),
  );

/**
 * Processes that Defender excludes from scans, by file name or path; `absent` if Defender is not installed, `off` if it
 * does not run (a policy, or another scanner).
 */
export const defender = windowsProbe(
  powershell('windows/probe-defender.ps1'),
  z.object({ state: z.enum(['absent', 'off', 'on']), excludedProcesses: z.array(text) }),
  ({ state, excludedProcesses }): readonly string[] | 'absent' | 'off' => (state === 'on' ? excludedProcesses : state),
);
