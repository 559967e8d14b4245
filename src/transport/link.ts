import type { Duplex, Readable } from 'node:stream';

/** One running command on a connection. Emits `close` when it is over and its output was read. */
export interface CommandStream extends Duplex {
  readonly stderr: Readable;
}

/** What became of an attempt to start a command. */
export type Started =
  | {
      readonly kind: 'started';
      readonly stream: CommandStream;
      /** Exit status or a signal's name; `lost` while none came. */
      readonly status: () => number | string;
    }
  /** The server opens no more channels for now; nothing was run. */
  | { readonly kind: 'refused'; readonly reason: string }
  /** The server will not run the command. */
  | { readonly kind: 'denied'; readonly reason: string }
  /** The connection had ended before the command was sent; nothing was run. */
  | { readonly kind: 'unsent' }
  /** The connection ended after the command was sent: it may have run. */
  | { readonly kind: 'lost' };

/** Files over a connection. Errors are `TransferError`s. */
export interface FileLink {
  put(from: string | Buffer, to: string): Promise<void>;
  fetch(from: string): Promise<Buffer>;
  fetchTo(from: string, localPath: string): Promise<void>;
  end(): void;
}

/** One established connection. */
export interface Link {
  start(commandLine: string): Promise<Started>;
  /** Begins to transfer files. @throws Error with the server's answer. */
  files(): Promise<FileLink>;
  /** What the server calls itself. */
  readonly software: string;
  /** How long the login took, from the moment the server took the connection; missing if that is unknown. */
  readonly loginMs?: number;
  /** Settles when the connection has ended. */
  readonly lost: Promise<void>;
  isLost(): boolean;
  /** Ends it at once. */
  destroy(): void;
}
