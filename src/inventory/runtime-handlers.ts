/** What can run the containers of a handler. */
export const HANDLER_KINDS = ['crun', 'kata', 'nvidia', 'runsc'] as const;

export type HandlerKind = (typeof HANDLER_KINDS)[number];

/** A further way in which a container runtime starts containers, for pods that name its RuntimeClass. */
export interface RuntimeHandler {
  /** Of the handler and of its RuntimeClass: a DNS label. */
  readonly name: string;
  readonly kind: HandlerKind;
  /** Absolute path of its program. */
  readonly path: string;
  /** `package`: kbuild installs the package with the program. `host`: the operator puts the program there. */
  readonly from: 'package' | 'host';
  /** Its own configuration file on the host; undefined: the one that the program finds by itself. */
  readonly config?: string;
  /** What a pod takes beside its containers, as quantities of Kubernetes; empty: nothing. */
  readonly overhead: Readonly<Record<string, string>>;
}

/** Before the name of a handler: label of the nodes that have it. Its value is HANDLER_LABEL_VALUE. */
export const HANDLER_LABEL_PREFIX = 'handler.kbuild.dev/';

/** Value of the label of a node that has a handler. */
export const HANDLER_LABEL_VALUE = 'yes';

/** Label by which a RuntimeClass finds the nodes that have its handler. */
export const handlerLabel = (name: string): string => `${HANDLER_LABEL_PREFIX}${name}`;
