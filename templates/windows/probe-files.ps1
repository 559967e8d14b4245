# Observes files (hash, time of change) and folders (number of entries). Skips missing paths.
# Paths: files and folders. Trees: folders of which it returns every file.
[CmdletBinding()]
param([string[]]$Paths = @(), [string[]]$Trees = @())
Set-StrictMode -Version Latest
$ErrorActionPreference = 'Stop'
function Get-State($Item) {
    $state = @{ path = [string]$Item.FullName; kind = 'file'; modifiedMs = Get-UnixMilliseconds -Time $Item.LastWriteTime }
    if ($Item.PSIsContainer) {
        $state['kind'] = 'folder'
        $state['entries'] = @(Get-ChildItem -LiteralPath $Item.FullName -Force).Count
    } else {
        $state['sha256'] = (Get-FileHash -LiteralPath $Item.FullName -Algorithm 'SHA256').Hash.ToLowerInvariant()
    }
    return $state
}
$found = @()
foreach ($path in $Paths) {
    if (Test-Path -LiteralPath $path) { $found += Get-State (Get-Item -LiteralPath $path -Force) }
}
foreach ($tree in $Trees) {
    if (Test-Path -LiteralPath $tree) {
        foreach ($item in @(Get-ChildItem -LiteralPath $tree -Recurse -File -Force)) { $found += Get-State $item }
    }
}
Write-Result -Value @{ files = @($found) }
