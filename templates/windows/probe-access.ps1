# Observes the access rules of folders, as SDDL. Skips missing folders. Paths: the folders.
[CmdletBinding()]
param([string[]]$Paths = @())
Set-StrictMode -Version Latest
$ErrorActionPreference = 'Stop'
$rules = @()
foreach ($path in $Paths) {
    if (Test-Path -LiteralPath $path) {
        $rules += @{ path = $path; sddl = [string](Get-Property -Of (Get-Acl -LiteralPath $path) -Name 'Sddl') }
    }
}
Write-Result -Value @{ rules = @($rules) }
