/** What keeps the clock of a host right, where kbuild sees to it. */
export interface TimeSync {
  readonly kind: 'chrony';
  /** Names and addresses of time servers, besides those that the host's own configuration names. */
  readonly servers: readonly string[];
}
