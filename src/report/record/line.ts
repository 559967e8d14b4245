import type { Severity } from '../../engine/check.ts';
import type { TimedEvent } from '../../engine/event.ts';
import type { PlannedRestart } from '../../engine/restarts.ts';
import type { Role } from '../../inventory/inventory.ts';
import type { Status } from '../status.ts';

/**
 * Version of the format of records; raised when a field changes its meaning or goes away. New kinds and new fields do
 * not raise it: a reader ignores those that it does not know.
 */
export const RECORD_FORMAT = 1;

/** A host as the inventory names it. */
export interface RecordedHost {
  readonly name: string;
  readonly role: Role;
  readonly os: 'linux' | 'windows';
  readonly address: string;
  readonly internalAddress: string;
  readonly groups: readonly string[];
}

/** The first line: the command, and its cluster and hosts. `time` is the run's start. */
export interface RecordHead {
  readonly kind: 'run';
  readonly format: typeof RECORD_FORMAT;
  readonly time: string;
  /** Identity of the run, e.g. `20261121t165045z-0a1b2c3d`. */
  readonly run: string;
  /** The process that wrote it; `realm`: where its id is unique, empty if unknown. It may still run. */
  readonly process: { readonly pid: number; readonly realm: string };
  /** As the operator types it, e.g. `etcd snapshot save`. */
  readonly command: string;
  /** kbuild's version. */
  readonly kbuild: string;
  /** Absolute path of the inventory. Missing: it came on standard input, or an older kbuild wrote the record. */
  readonly inventory?: string;
  /** Absolute path of the run's log, on the machine that it ran on; missing in older records. */
  readonly log?: string;
  /** The cluster's name in the inventory. */
  readonly cluster: string;
  /** The version of Kubernetes in the inventory, without `v`. */
  readonly kubernetes: string;
  /** `host:port`, as the inventory names it. */
  readonly endpoint: string;
  readonly etcd: 'stacked' | 'built' | 'external';
  /** Missing `address`: there is no virtual address that kbuild manages. */
  readonly loadBalancer: {
    readonly kind: 'none' | 'external' | 'keepalived' | 'kube-vip' | 'local';
    readonly address?: string;
    readonly port?: number;
  };
  readonly network: string;
  readonly runtime: string;
  readonly hosts: readonly RecordedHost[];
}

/** A place of a plan: the change there, or the wait. */
export interface RecordedChange {
  readonly phase: string;
  readonly host: string;
  readonly step: string;
  readonly summary: string;
}

/** The fields of a finding that a record holds. */
export interface RecordedFinding {
  readonly severity: Severity;
  /** Of the kbuild that ran: it may be one that this kbuild does not have. */
  readonly check: string;
  readonly page: string;
  /** Missing: the finding is about the whole fleet. */
  readonly host?: string;
  readonly message: string;
  readonly remedy?: string;
  readonly ignored?: true;
}

/** The system and the versions of an observed host. An empty text: unknown, or there is none. */
export interface RecordedSystem {
  readonly host: string;
  /** As it calls itself, with its version. */
  readonly system: string;
  readonly kernel: string;
  readonly architecture: string;
}

/** A port of a host that other hosts must reach. */
interface RecordedWay {
  readonly to: string;
  readonly port: number;
  readonly protocol: 'tcp' | 'udp';
  readonly program: string;
  readonly from: readonly string[];
}

/** What only the record holds: no reporter shows it, and `--json` does not print it. Durations in ms. */
export type Note =
  /** A command on a host, at its end. `status`: exit status, name of a signal, `lost` or `timeout`. */
  | {
      readonly kind: 'command';
      readonly host: string;
      readonly command: string;
      readonly status: number | string;
      readonly durationMs: number;
    }
  /** All findings of the checks. A later line replaces this one. */
  | { readonly kind: 'findings'; readonly findings: readonly RecordedFinding[] }
  /**
   * The plan of the run, as the operator confirms it. A later line replaces this one: the plan grew, or was
   * made again.
   */
  | {
      readonly kind: 'plan';
      readonly phases: readonly { readonly name: string; readonly title: string; readonly hosts: readonly string[] }[];
      readonly changes: readonly RecordedChange[];
      /** True for a wait without a change. */
      readonly waits: readonly RecordedChange[];
      readonly restarts: readonly PlannedRestart[];
    }
  /** The hosts that answered, and those that did not. A later line replaces this one. */
  | {
      readonly kind: 'hosts-observed';
      readonly hosts: readonly RecordedSystem[];
      readonly unreachable: readonly { readonly host: string; readonly message: string }[];
    }
  /** The cluster as its API and etcd showed it. A later line replaces this one: a run ends with one. */
  | {
      readonly kind: 'cluster-observed';
      readonly state: 'absent' | 'down' | 'up';
      /** Why it does not answer; empty unless `down`. */
      readonly reason: string;
      /** Of Kubernetes, without `v`; empty unless `up`. */
      readonly version: string;
      /** `ok` when the API answers at the endpoint, else why it does not; empty unless `up`. */
      readonly endpointAnswer: string;
      readonly nodes: Status['nodes'];
      readonly apiServers: Status['apiServers'];
      readonly etcd: Status['etcd'];
      /** Hosts that hold the virtual address. */
      readonly addressHolders: readonly string[];
    }
  /** The certificates of the hosts that were observed. A later line replaces this one. */
  | {
      readonly kind: 'certificates-observed';
      readonly certificates: readonly {
        readonly host: string;
        readonly name: string;
        /** ISO 8601. */
        readonly expires: string;
        readonly renewedBy: string;
      }[];
      readonly unknown: readonly { readonly host: string; readonly message: string }[];
    }
  /** The survey of ports between hosts. */
  | {
      readonly kind: 'ports-surveyed';
      /** Those that were tried. */
      readonly ways: readonly RecordedWay[];
      readonly blocked: readonly {
        readonly from: string;
        readonly to: string;
        readonly port: number;
        readonly protocol: 'tcp' | 'udp';
        readonly program: string;
        /** e.g. `no answer within 10 s` */
        readonly how: string;
      }[];
      /** Paths on which large packets are lost: `mtu` of the sender's interface. */
      readonly narrow: readonly { readonly from: string; readonly to: string; readonly mtu: number }[];
      /** UDP ports of which it is unknown whether datagrams arrive. */
      readonly unverified: readonly { readonly to: string; readonly port: number }[];
      /**
       * How many pairs of hosts are not in `ways`, and how many blocked ways are not in `blocked`: the record would be
       * too large.
       */
      readonly unlisted?: { readonly ways: number; readonly blocked: number };
      /** Hosts that could not be surveyed. */
      readonly failed: readonly { readonly host: string; readonly reason: string }[];
    }
  /**
   * The run, or one host of it, begins to wait. `wait` pairs it with its `waited`; without that, it waited to the end.
   */
  | {
      readonly kind: 'waiting';
      readonly wait: number;
      /** `turn`: other hosts are disrupted first. `answer`: of the operator. */
      readonly what: 'lock' | 'turn' | 'answer';
      /** Missing: the whole run waits. */
      readonly host?: string;
      readonly summary: string;
    }
  | { readonly kind: 'waited'; readonly wait: number; readonly durationMs: number }
  /**
   * Why a host left the run: with the known cause, the remedy, and the last lines of its logs in sections that begin
   * with `== `.
   */
  | {
      readonly kind: 'failure';
      readonly host: string;
      readonly message: string;
      /** Empty: unknown. */
      readonly cause: string;
      /** Empty: unknown. */
      readonly remedy: string;
      readonly lastWords: string;
      readonly exitCode: number;
      /** The name of a refusal. */
      readonly refusal?: string;
    }
  /** The error that ended the command. `remedy` is empty where none is known. */
  | {
      readonly kind: 'error';
      readonly message: string;
      readonly remedy: string;
      readonly exitCode: number;
      /** The name of a refusal. */
      readonly refusal?: string;
    }
  /** The last line. Missing: the run was killed, or still runs. */
  | {
      readonly kind: 'end';
      readonly exitCode: number;
      /** e.g. `done: 12 changes on 4 hosts in 8.4 s (prepare)` */
      readonly result: string;
      readonly durationMs: number;
    };

/** A note and when it was made, ISO 8601. */
type TimedNote = Note & { readonly time: string };

/** Any line of a record after its first. */
export type RecordLine = TimedEvent | TimedNote;

/** A record that was read. */
export interface RunRecord {
  readonly head: RecordHead;
  /** In their order, without those of unknown kinds. */
  readonly lines: readonly RecordLine[];
  /** False: the run was killed, or still runs. */
  readonly isWhole: boolean;
  /** How many lines were left out: of a newer kbuild, cut off, or no lines of a record. */
  readonly leftOut: number;
}
