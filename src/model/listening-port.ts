/** The hosts that connect to a port. `itself`: the program listens on the loopback interface, or only its host uses it. */
export type Client = 'everybody' | 'control-planes' | 'nodes' | 'itself';

/** A port that a host of a role listens at once the cluster stands. */
export interface ListeningPort {
  readonly port: number;
  readonly protocol: 'tcp' | 'udp';
  /** The program, as `ss` names it. */
  readonly program: string;
  readonly from: Client;
}
