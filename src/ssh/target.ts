import type { Login } from '../inventory/host-settings.ts';

/** One machine to connect to: a host, or a bastion on the way to it. */
export interface Endpoint {
  /** The host's name, for messages: also for a bastion, since that host is what cannot be reached. */
  readonly name: string;
  readonly address: string;
  readonly ssh: Login;
}

/** `address:port`, IPv6 in brackets. */
export const whereOf = ({ address, ssh: { port } }: Pick<Endpoint, 'address' | 'ssh'>): string =>
  `${address.includes(':') ? `[${address}]` : address}:${String(port)}`;
