import type { Host, LinuxHost, WindowsHost } from '../inventory/inventory.ts';
import type { Command, Shell } from '../shell/command.ts';
import type { Secret } from '../shell/secret.ts';

/** A command that runs for as long as its channel is open. */
export interface Held {
  /** The first line that it printed. */
  readonly first: string;
  /** Settles when the command or the connection ended: exit status, a signal's name, or `lost`. */
  readonly ended: Promise<number | string>;
  /** True if this process was frozen or asleep for more than 30 s: the command may have ended unnoticed. */
  readonly isDoubtful: () => boolean;
  /** Call it after observing that the command runs: `isDoubtful` is false again. */
  readonly trust: () => void;
  release(): Promise<void>;
}

/** A host that kbuild is connected to. */
export interface Remote<S extends Shell = Shell> {
  readonly host: Host;
  /**
   * Runs a command and returns its stdout. `input`: what it reads on its stdin, on Linux hosts only. @throws
   * CommandError on any status but 0; ConnectError.
   */
  run(command: Command<S>, input?: S extends 'sh' ? Secret : undefined): Promise<string>;
  /** Like `run`; its output is never logged and comes back as a Secret. */
  reveal(command: Command<S>): Promise<Secret>;
  /** A text file. @throws CommandError when it is not there. */
  read(path: string): Promise<string>;
  /** A local file to the host: by temporary name, verified by hash, then moved. */
  upload(from: string, to: string, mode?: number): Promise<void>;
  /** A file of the host to a local one, verified by hash; the local file is 0600. */
  download(from: string, to: string): Promise<void>;
  /** Text to a file: by temporary name, fsynced, then moved; parents are made. Default mode 0644, of a Secret 0600. */
  write(path: string, content: string | Secret, mode?: number): Promise<void>;
  /**
   * Long work that outlives the connection: a transient systemd unit. Returns its output when it succeeded. A running
   * job of the same host is waited for first. `files` lie beside the script (working directory), 0600, and are gone
   * when it ends.
   * @throws CommandError when the job failed.
   */
  job(name: string, command: Command<S>, files?: Readonly<Record<string, Secret>>): Promise<string>;
  /** A command on a channel that is kept open: the lock. */
  hold(command: Command<S>): Promise<Held>;
  /** Logs in again for the commands from now on: they get the machine's changed environment. */
  renew(): void;
  /** Restarts the host; returns when a new boot id answers. */
  restart(): Promise<void>;
}

/** The shell of a host's operating system. */
type ShellOf<H extends Host> = { linux: 'sh'; windows: 'powershell' }[H['os']];

/** `on(host)`: a change may reach any host of the inventory. @throws ConnectError for a host that is not connected. */
export type On = <H extends LinuxHost | WindowsHost>(host: H) => Remote<ShellOf<H>>;
