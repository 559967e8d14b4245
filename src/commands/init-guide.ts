import { InventoryError, UsageError } from '../errors.ts';
import { type Family, isIP } from '../inventory/addresses.ts';
import { localSources } from '../inventory/file/sources.ts';
import type { Context } from '../session/context.ts';
import type { Flags } from '../session/options.ts';
import { systemText } from '../shell/text.ts';
import { NEWEST_KUBERNETES, supportedMinors } from '../versions.ts';
import { discover, type Discovery, loadText, NOTHING_FOUND, showDiscovery, withDiscovery } from './init-discovery.ts';
import {
  FAMILIES_FORM,
  familiesFor,
  isAddressed,
  parseFamilies,
  placeholder,
  proposedFamilies,
  sharedFamilies,
} from './init-families.ts';
import { sharedNetworks } from './init-networks.ts';
import { type Answers, HOST_FORM, parseHost, skeleton, topology } from './init-skeleton.ts';

/** Asks until `read` takes the answer; what it refuses is shown with its remedy, and asked for again. */
type Ask = <T>(question: string, proposal: string, read: (answer: string) => T | Promise<T>) => Promise<T>;

const asking =
  ({ ask, err }: Pick<Context, 'ask' | 'err'>): Ask =>
  async (question, proposal, read) => {
    for (;;) {
      const answer = (await ask(`${question}${proposal === '' ? '' : ` [${proposal}]`}: `)).trim();
      try {
        return await read(answer === '' ? proposal : answer);
      } catch (error) {
        if (!(error instanceof UsageError)) throw error;
        err(`✖ ${error.message}\n${error.remedy === undefined ? '' : `  → ${error.remedy}\n`}`);
      }
    }
  };

/** Of the shape that every question can be checked with, before the others are answered. */
const SO_FAR: Answers = {
  name: 'demo',
  version: NEWEST_KUBERNETES,
  hosts: [{ name: 'cp1', address: '192.0.2.11', role: 'control-plane' }],
};

/** Holds answers against the rules of inventories. @throws UsageError with the problems at these settings */
async function hold(context: Context, answers: Partial<Answers>, settings: readonly string[]): Promise<void> {
  try {
    await loadText(context, skeleton({ ...SO_FAR, ...answers }));
  } catch (error) {
    if (!(error instanceof InventoryError)) throw error;
    const problems = error.problems
      .filter(({ path }) => settings.some((setting) => path.startsWith(setting)))
      .map(({ message }) => message);
    if (problems.length > 0) throw new UsageError([...new Set(problems)].join('; '));
  }
}

const words = (text: string): readonly string[] => text.split(/[\s,]+/).filter((word) => word !== '');

/** Of how many hosts on three control planes are proposed: fewer leave too few workers. */
const HOSTS_FOR_THREE = 5;

/** The hosts, and which of them are control planes. */
async function askedHosts(context: Context, ask: Ask): Promise<Pick<Answers, 'user' | 'hosts'>> {
  context.err(`Hosts are written as ssh knows them, with blanks between them: ${HOST_FORM}.\n`);
  const written = await ask('Hosts, control planes first', '', async (answer) => {
    const hosts = words(answer).map(parseHost);
    if (hosts.length === 0) throw new UsageError('a cluster needs a host', { remedy: 'e.g. root@10.0.0.11' });
    const named = topology(hosts, 1);
    // What only a look at the host tells is not asked for yet.
    const whole = named.hosts.map((host, i) =>
      isIP(host.address) === 4 ? host : { internalAddress: placeholder('IPv4', i), ...host },
    );
    await hold(context, { ...named, hosts: whole }, ['hosts']);
    return hosts;
  });
  const count = written.length;
  if (count === 1) return topology(written, 1);
  const controlPlanes = await ask(
    'How many of them are control planes (1; or 3 or 5, which survive the loss of 1 or 2)',
    count < HOSTS_FOR_THREE ? '1' : '3',
    (answer) => {
      const number = Number(answer);
      if (!/^\d+$/.test(answer) || number < 1 || number > count)
        throw new UsageError(`"${answer}" is not between 1 and ${String(count)}`);
      if (number % 2 === 0)
        throw new UsageError(`${answer} control planes survive no more losses than ${String(number - 1)}`, {
          remedy: 'take an odd number: etcd needs more than half of its members',
        });
      return number;
    },
  );
  return topology(written, controlPlanes);
}

/** A private key that is there, or undefined for the agent and ~/.ssh/config. */
const askedKey = ({ env, cwd }: Context, ask: Ask): Promise<string | undefined> =>
  ask('Private key, or nothing for the agent and ~/.ssh/config', '', async (answer) => {
    if (answer === '') return undefined;
    const { locate, read } = localSources({ env, cwd, reach: 'local' });
    try {
      await read(locate(answer, cwd), 1);
    } catch (error) {
      throw new UsageError(`${answer} cannot be read: ${systemText(error)}`, {
        remedy: `correct the path, or make a key: ssh-keygen -t ed25519 -f ${answer}`,
        cause: error,
      });
    }
    return answer;
  });

const isYes = (answer: string): boolean => {
  if (!/^(?:y|yes|n|no)$/i.test(answer)) throw new UsageError('please answer yes or no');
  return /^y/i.test(answer);
};

/** The families of the cluster: asked for only where the hosts have both. */
async function askedFamilies({ found }: Discovery, ask: Ask): Promise<readonly Family[]> {
  const hosts = [...found.values()];
  if (hosts.length === 0 || sharedFamilies(hosts).length < 2) return proposedFamilies(hosts);
  return ask(`Addresses of pods and Services: ${FAMILIES_FORM}; the first is primary`, 'ipv4', parseFamilies);
}

/** The network that carries the cluster in a family: asked for only where hosts share several. */
async function askedNetwork({ found }: Discovery, ask: Ask, family: Family): Promise<string | undefined> {
  const networks = sharedNetworks([...found.values()], family);
  if (networks.length < 2) return networks[0];
  return ask(`Which network carries the cluster: ${networks.join(' or ')}`, networks[0]!, (answer) => {
    if (!networks.includes(answer)) throw new UsageError(`no network ${answer} is shared by all hosts`);
    return answer;
  });
}

/** The address of the API, or nothing where the one control plane is it, or haproxy of each node. */
async function askedEndpoint(context: Context, ask: Ask, answers: Answers): Promise<Partial<Answers>> {
  const isAlone = answers.hosts.filter(({ role }) => role === 'control-plane').length < 2;
  const virtualAddress = await ask(
    "A free address in the control planes' network, which kbuild moves between them (keepalived), or nothing",
    '',
    async (answer) => {
      if (answer !== '') await hold(context, { ...answers, virtualAddress: answer }, ['loadBalancer', 'hosts']);
      return answer;
    },
  );
  if (virtualAddress !== '') return { virtualAddress };
  const endpoint = await ask(
    isAlone
      ? 'host:port of a load balancer or a name of your own, or nothing (kbuild move-endpoint changes it later)'
      : 'host:port of your load balancer before the control planes, or nothing (haproxy on every node)',
    '',
    async (answer) => {
      if (answer !== '') await hold(context, { ...answers, endpoint: answer }, ['kubernetes.endpoint', 'hosts']);
      return answer;
    },
  );
  return endpoint === '' ? {} : { endpoint };
}

/** Those that failed are tried again, and now the operator is asked what SSH needs. */
async function triedAgain(context: Context, answers: Answers, flags: Flags, first: Discovery): Promise<Discovery> {
  const names = new Set(first.failed.keys());
  if (names.size === 0) return first;
  const again = await discover(context, answers, flags, names);
  return { found: new Map([...first.found, ...again.found]), failed: again.failed };
}

/** The addresses that SSH did not tell. */
async function askedAddresses(context: Context, ask: Ask, answers: Answers): Promise<Answers> {
  const families = familiesFor(answers);
  const what = `${families.join(' and ')} address${families.length > 1 ? 'es' : ''}`;
  const hosts = [...answers.hosts];
  for (const [i, host] of hosts.entries())
    if (!isAddressed(host, families))
      hosts[i] = await ask(
        `${what} of ${host.name} in the cluster's network${families.length > 1 ? ', with a comma' : ''}`,
        '',
        async (answer) => {
          const internalAddress = answer.replaceAll(' ', '');
          const asked = { ...host, internalAddress, role: 'control-plane' as const };
          await hold(context, { ...answers, hosts: [asked] }, ['hosts']);
          return { ...host, internalAddress };
        },
      );
  return { ...answers, hosts };
}

/**
 * Asks for what an inventory needs. Each answer is held against the rules of inventories when it is given. Hosts are
 * observed by SSH while the operator answers, if the operator agrees. Writes nothing.
 */
export async function guide(context: Context, flags: Flags): Promise<Answers> {
  const ask = asking(context);
  const name = await ask('Name of the cluster', 'demo', async (answer) => {
    await hold(context, { name: answer }, ['name']);
    return answer;
  });
  const { hosts, user: common } = await askedHosts(context, ask);
  const isUserKnown = hosts.every(({ user = common }) => user !== undefined);
  const user = isUserKnown
    ? common
    : await ask('User for SSH, or nothing for that of ~/.ssh/config, else root', '', async (answer) => {
        if (answer !== '') await hold(context, { user: answer }, ['ssh']);
        return answer === '' ? undefined : answer;
      });
  const identityFile = await askedKey(context, ask);
  const login = {
    hosts,
    ...(user === undefined ? {} : { user }),
    ...(identityFile === undefined ? {} : { identityFile }),
  };
  const begun: Answers = { ...SO_FAR, name, ...login };
  const connects = await ask('Connect to the hosts now, to find their addresses and networks (yes/no)', 'yes', isYes);
  // While the operator answers the next question. What SSH asks itself comes after it.
  const background = connects ? discover({ ...context, canAsk: false }, begun, flags) : Promise.resolve(NOTHING_FOUND);
  background.catch(() => undefined);
  const range = `${supportedMinors[0]!} to ${supportedMinors.at(-1)!}`;
  const version = await ask(`Kubernetes version (${range})`, NEWEST_KUBERNETES, async (answer) => {
    await hold(context, { version: answer }, ['kubernetes.version']);
    return answer;
  });
  if (connects) context.err('waiting for the hosts …\n');
  const discovery = await triedAgain(context, begun, flags, await background);
  showDiscovery(context, discovery);
  const families = await askedFamilies(discovery, ask);
  const networks: (string | undefined)[] = [];
  for (const family of families) networks.push(await askedNetwork(discovery, ask, family));
  const seen = withDiscovery({ ...begun, version, families }, discovery, networks);
  const addressed = withDiscovery(await askedAddresses(context, ask, seen), discovery, []);
  return { ...addressed, ...(await askedEndpoint(context, ask, addressed)) };
}
