import { type JsonObject, objectOf, objectsOf, textsIn } from '../../shell/decode.ts';
import { Detour, type HttpsPeer } from './https-peer.ts';

/** Finds the server of a client URL of etcd. */
type EtcdPeers = (url: string) => HttpsPeer;

/** The key that `etcdctl endpoint health` reads (etcdctl/ctlv3/command/ep_command.go), in base64. */
const HEALTH_KEY = Buffer.from('health').toString('base64');

/** One call of etcd's HTTP gateway. Throws what etcd says. @throws Detour where an etcd has no gateway */
async function call(peer: HttpsPeer, path: string, body: JsonObject): Promise<string> {
  const answer = await peer.request(path, { method: 'POST', body: JSON.stringify(body) });
  if (answer.status === 200) return answer.body.trim();
  if (answer.status === 404) throw new Detour('etcd has no HTTP gateway (--enable-grpc-gateway=false)');
  throw new Error(`etcd: status ${String(answer.status)}: ${answer.body.trim()}`);
}

const alarmsIn = (text: string): readonly string[] =>
  objectsOf(objectOf(JSON.parse(text))['alarms']).map(({ alarm }) => (typeof alarm === 'string' ? alarm : 'UNKNOWN'));

/** What `etcdctl endpoint health` says of a member. It calls every member unhealthy while any has an alarm. */
async function healthOf(peer: HttpsPeer, endpoint: string, alarms: Promise<string>): Promise<JsonObject> {
  try {
    await call(peer, '/v3/kv/range', { key: HEALTH_KEY });
    const raised = alarmsIn(await alarms);
    if (raised.length === 0) return { endpoint, health: true };
    return { endpoint, health: false, error: `Active Alarm(s): ${raised.map((alarm) => `${alarm} `).join('')}` };
  } catch (error) {
    if (error instanceof Detour) throw error;
    return { endpoint, health: false, error: (error as Error).message };
  }
}

/** What a member says of itself; nothing where it does not answer. */
async function statusOf(peer: HttpsPeer, endpoint: string): Promise<readonly JsonObject[]> {
  try {
    const text = await call(peer, '/v3/maintenance/status', {});
    return [{ Endpoint: endpoint, Status: objectOf(JSON.parse(text)) }];
  } catch (error) {
    if (error instanceof Detour) throw error;
    return [];
  }
}

/**
 * Members, health, status and alarms of etcd, by its HTTP gateway: the text that `templates/cluster/etcd-view.sh`
 * prints, for the same parser. `localUrl`: the local member's client URL. `expected`: client URLs that are probably
 * among those of the members, which are asked before that is known. Rejects if the local member does not tell the
 * members; what else does not answer is left out.
 */
export async function etcdByGateway(
  peers: EtcdPeers,
  localUrl: string,
  expected: readonly string[] = [],
): Promise<string> {
  const local = peers(localUrl);
  const alarms = call(local, '/v3/maintenance/alarm', { action: 'GET' });
  alarms.catch(() => undefined);
  const asked = new Map<string, Promise<readonly [JsonObject, readonly JsonObject[]]>>();
  const answersOf = (url: string) => {
    const known = asked.get(url) ?? Promise.all([healthOf(peers(url), url, alarms), statusOf(peers(url), url)]);
    asked.set(url, known);
    known.catch(() => undefined);
    return known;
  };
  for (const url of expected) void answersOf(url);
  const members = await call(local, '/v3/cluster/member/list', { linearizable: true });
  const urls = objectsOf(objectOf(JSON.parse(members))['members']).flatMap(({ clientURLs }) => textsIn(clientURLs));
  const answers = await Promise.all(urls.map(answersOf));
  const raised = await alarms.catch((error: unknown) => {
    if (error instanceof Detour) throw error;
    return '';
  });
  return [
    `members ${members}`,
    `health ${JSON.stringify(answers.map(([health]) => health))}`,
    `status ${JSON.stringify(answers.flatMap(([, status]) => status))}`,
    `alarms ${raised}`,
  ].join('\n');
}
