/** Facts of a Windows host. Windows workers are not built yet: an inventory that names one is refused while loading. */
export interface WindowsFacts {
  readonly build: string;
}
