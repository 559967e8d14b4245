import type { Secret } from '../shell/secret.ts';

/** An external etcd that kbuild builds on the hosts of role etcd. */
export interface BuiltEtcd {
  readonly topology: 'built';
  /** Client URLs of these hosts, in the inventory's order. */
  readonly endpoints: readonly string[];
}

/** An etcd that the user runs. */
export interface ExternalEtcd {
  readonly topology: 'external';
  /** Client URLs. */
  readonly endpoints: readonly string[];
  /** PEM texts: the CA of its servers, and the API servers' client certificate with its key. */
  readonly ca: string;
  readonly cert: string;
  readonly key: Secret;
}
