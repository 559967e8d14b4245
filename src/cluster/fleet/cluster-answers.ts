import { etcdCommand } from '../../etcd/view.facts.ts';
import { controlPlanes } from '../../inventory/hosts.ts';
import type { Inventory, LinuxHost } from '../../inventory/inventory.ts';
import { lastLine } from '../../shell/probe.ts';
import { type ChannelTools, clusterChannel, etcdPeers, type Told } from './channel.ts';
import { apiServerAt, localEtcd } from './places.ts';
import { etcdByGateway } from './etcd-gateway.ts';
import { type Answer, framedScript, parallelFramedScript, readFrames } from './framed-script.ts';
import { Detour, type Forward } from './https-peer.ts';
import { unready } from './objects.ts';
import type { Ask } from './observe-linux.ts';
import { type ClusterProbe, readyCommand } from './probes.ts';

/** How a host is asked. */
interface Reach {
  readonly ask: Ask;
  /** Missing where only commands are run. */
  readonly forward?: Forward | undefined;
  readonly nonce: () => string;
  /** What the host has just told of itself, for the channels. */
  readonly told?: Told | undefined;
}

type Probes = Readonly<Record<string, Pick<ClusterProbe<unknown>, 'command' | 'over'>>>;
type Answers = Readonly<Record<string, Answer>>;

const notReady = (host: LinuxHost, said: string): Error =>
  new Error(`${host.name}: its API server is not ready: ${unready(said)}`);

/** All probes by commands on the control plane. Throws if its API server is not ready, and there are others. */
async function byCommands(
  inventory: Inventory,
  host: LinuxHost,
  probes: Probes,
  { ask, nonce }: Reach,
): Promise<Answers> {
  const word = nonce();
  const commands = Object.fromEntries(Object.entries(probes).map(([name, { command }]) => [name, command]));
  const command = parallelFramedScript(commands, word);
  // If there are other control planes, one that is half dead must not let every probe time out.
  const others = controlPlanes(inventory).length > 1;
  const first = others ? `${readyCommand(inventory, host).script} >/dev/null || exit 3\n` : '';
  const { status, stdout, stderr } = await ask({ ...command, script: `${first}${command.script}` });
  if (others && status === 3) throw notReady(host, stderr);
  return readFrames(stdout, stderr, word);
}

/** The answer of one probe. Rejects with a Detour only. */
async function answerTo(asking: Promise<string>): Promise<Answer> {
  try {
    return { stdout: await asking };
  } catch (error) {
    if (error instanceof Detour) throw error;
    return { failed: error instanceof Error ? error.message : String(error) };
  }
}

/** The same over SSH's own channels. @throws Detour if they cannot answer all of them */
async function byChannel(inventory: Inventory, host: LinuxHost, probes: Probes, tools: ChannelTools): Promise<Answers> {
  const isEtcdAsked = 'etcd' in probes && inventory.etcd.topology === 'stacked';
  const channel = clusterChannel(inventory, host, tools, isEtcdAsked);
  try {
    const answers = Promise.all(
      Object.entries(probes).map(async ([name, { over }]) => [name, await answerTo(over(channel))] as const),
    );
    answers.catch(() => undefined);
    await channel.begun;
    if (controlPlanes(inventory).length > 1) {
      const said = await channel.readyz(apiServerAt(inventory, host));
      if (said.trim() !== 'ok') throw notReady(host, said);
    }
    return Object.fromEntries(await answers);
  } finally {
    channel.close();
  }
}

/** Does it over channels, or by commands where that cannot be; why then. */
async function preferring<T>(
  { ask, forward, nonce, told }: Reach,
  channels: (tools: ChannelTools) => Promise<T>,
  commands: () => Promise<T>,
): Promise<{ readonly value: T; readonly detour?: string }> {
  if (forward === undefined) return { value: await commands() };
  try {
    return { value: await channels({ ask, forward, nonce, told }) };
  } catch (error) {
    if (!(error instanceof Detour)) throw error;
    return { value: await commands(), detour: error.message };
  }
}

/**
 * What a control plane answers to probes of the cluster: over SSH's own channels, or by commands on the host where its
 * server forwards nothing; `detour` says why then. Rejects if the host cannot be asked, or if its API server is not
 * ready and there are others.
 */
export async function clusterAnswers(
  inventory: Inventory,
  host: LinuxHost,
  probes: Probes,
  reach: Reach,
): Promise<{ readonly answers: Answers; readonly detour?: string | undefined }> {
  const { value, detour } = await preferring(
    reach,
    (tools) => byChannel(inventory, host, probes, tools),
    () => byCommands(inventory, host, probes, reach),
  );
  return { answers: value, detour };
}

/** What a member of etcd answers, as text for `parseEtcd`. Rejects with the reason if it does not. */
export async function etcdAnswer(inventory: Inventory, host: LinuxHost, reach: Reach): Promise<string> {
  const { value } = await preferring(
    reach,
    async (tools) => {
      const peers = etcdPeers(tools);
      try {
        await peers.begun;
        return await etcdByGateway(peers.at, localEtcd(host));
      } finally {
        peers.close();
      }
    },
    async () => {
      const word = reach.nonce();
      const { stdout, stderr } = await reach.ask(framedScript({ etcd: etcdCommand(inventory, host) }, word));
      const answer = readFrames(stdout, stderr, word)['etcd'] ?? { failed: lastLine(stderr) };
      if ('failed' in answer) throw new Error(answer.failed);
      return answer.stdout;
    },
  );
  return value;
}
