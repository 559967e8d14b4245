import type { Inventory, LinuxHost } from '../inventory/inventory.ts';
import { paths } from '../paths.ts';
import { objectOf } from '../shell/decode.ts';
import { numberOf, probeInPlace } from '../shell/probe.ts';
import { script } from '../templates.ts';

/** The first and the first beyond the keys `/registry/…`, as etcd's HTTP gateway wants them. */
const REGISTRY = { first: 'L3JlZ2lzdHJ5Lw==', beyond: 'L3JlZ2lzdHJ5MA==' } as const;

/**
 * What one endpoint of the user's etcd answers to the API servers' certificate; `problem` if the answer is of no use.
 */
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
    return objectOf(JSON.parse(text));
  } catch {
    return {};
  }
}

function parse(block: string): EtcdEndpoint {
  const [url = '', ...lines] = block.split('\n');
  const field = (name: string): string =>
    lines.find((line) => line.startsWith(`${name} `))?.slice(name.length + 1) ?? '';
  const failed = (problem: string): EtcdEndpoint => ({ url, problem, version: '', keys: 0 });
  if (field('error') !== '') return failed(field('error'));
  const { etcdserver } = answer(field('version'));
  if (typeof etcdserver !== 'string') return failed(`it does not tell its version (${field('version').slice(0, 80)})`);
  const { health } = answer(field('health'));
  if (String(health) !== 'true') return failed(`it is not healthy (${field('health').slice(0, 80)})`);
  if (!field('keys').startsWith('{"header"')) return failed(`its keys cannot be read (${field('keys').slice(0, 120)})`);
  return { url, problem: undefined, version: etcdserver, keys: numberOf(String(answer(field('keys')).count ?? 0)) };
}

/**
 * The user's etcd as a control plane that has not joined meets it, with the certificate that its API server will have;
 * `not asked` before that is there, and where etcd is stacked.
 */
export function externalEtcd({ etcd }: Inventory, host: LinuxHost) {
  const urls = etcd.topology !== 'stacked' && host.role === 'control-plane' ? etcd.endpoints : [];
  const range = JSON.stringify({ key: REGISTRY.first, range_end: REGISTRY.beyond, count_only: true });
  return probeInPlace(
    script('etcd/probe-external-etcd.sh', {
      URLS: urls.join(' '),
      RANGE: range,
      CA: paths.etcdCa,
      CERTIFICATE: paths.etcdClientCertificate,
      KEY: paths.etcdClientKey,
    }),
    (out): readonly EtcdEndpoint[] | 'not asked' =>
      out.trim() === 'not asked'
        ? 'not asked'
        : out
            .split(/^endpoint /m)
            .slice(1)
            .map(parse),
  );
}
