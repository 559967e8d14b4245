import type { Inventory, LinuxHost } from '../../model/inventory.ts';
import { paths } from '../../paths.ts';
import { sh } from '../../shell/sh.ts';
import { probe } from '../probe.ts';

/** The first and the first beyond the keys `/registry/…`, as etcd's HTTP gateway wants them. */
const REGISTRY = { first: 'L3JlZ2lzdHJ5Lw==', beyond: 'L3JlZ2lzdHJ5MA==' } as const;

/** What one endpoint of the user's etcd says to the API servers' certificate; `problem` when it says nothing of use. */
export interface EtcdEndpoint {
  readonly url: string;
  readonly problem: string | undefined;
  /** e.g. `3.6.8`; empty with a problem. */
  readonly version: string;
  /** Keys below /registry/: what some Kubernetes keeps there. */
  readonly keys: number;
}

interface Answers {
  readonly etcdserver?: string;
  readonly health?: string | boolean;
  readonly count?: string;
}

function answer(text: string): Answers {
  try {
    return JSON.parse(text) as Answers;
  } catch {
    return {};
  }
}

function parse(block: string): EtcdEndpoint {
  const [url = '', ...lines] = block.split('\n');
  const said = (name: string): string =>
    lines.find((line) => line.startsWith(`${name} `))?.slice(name.length + 1) ?? '';
  const failed = (problem: string): EtcdEndpoint => ({ url, problem, version: '', keys: 0 });
  if (said('error') !== '') return failed(said('error'));
  const { etcdserver } = answer(said('version'));
  if (etcdserver === undefined) return failed(`it does not tell its version (${said('version').slice(0, 80)})`);
  const { health } = answer(said('health'));
  if (String(health) !== 'true') return failed(`it is not healthy (${said('health').slice(0, 80)})`);
  if (!said('keys').startsWith('{"header"')) return failed(`its keys cannot be read (${said('keys').slice(0, 120)})`);
  return { url, problem: undefined, version: etcdserver, keys: Number(answer(said('keys')).count ?? 0) };
}

/**
 * The user's etcd as a control plane that has not joined meets it, with the certificate that its API server will have;
 * `not asked` before that is there, and where etcd is stacked.
 */
export function externalEtcd({ etcd }: Inventory, host: LinuxHost) {
  const urls = etcd.topology !== 'stacked' && host.role === 'control-plane' ? etcd.endpoints : [];
  const range = JSON.stringify({ key: REGISTRY.first, range_end: REGISTRY.beyond, count_only: true });
  return probe(
    sh`urls=${urls.join(' ')}; range=${range}
       if [ -z "$urls" ] || [ -e /etc/kubernetes/kubelet.conf ] || [ ! -e ${paths.etcdClientKey} ] || ! command -v curl >/dev/null; then echo 'not asked'; exit 0; fi
       ask() { curl -sS --noproxy '*' --max-time 4 --cacert ${paths.etcdCa} --cert ${paths.etcdClientCertificate} --key ${paths.etcdClientKey} "$@" 2>&1; }
       # The shell of Debian makes lines of backslashes that it echoes.
       line() { printf %s "$*"; echo; }
       for url in $urls; do
         echo "endpoint $url"
         if said=$(ask "$url/version"); then
           line "version $said"
           line "health $(ask "$url/health" || true)"
           line "keys $(ask "$url/v3/kv/range" -d "$range" || true)"
         else line "error $said"; fi
       done`,
    (out): readonly EtcdEndpoint[] | 'not asked' =>
      out.trim() === 'not asked'
        ? 'not asked'
        : out
            .split(/^endpoint /m)
            .slice(1)
            .map(parse),
  );
}
