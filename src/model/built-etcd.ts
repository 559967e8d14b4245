/** An external etcd that kbuild builds on the hosts of role etcd. */
export interface BuiltEtcd {
  readonly topology: 'built';
  /** Client URLs of these hosts, in the inventory's order. */
  readonly endpoints: readonly string[];
}
