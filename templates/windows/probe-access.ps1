# Access rules of folders as SDDL; what is not there is left out. Paths: the folders.
[CmdletBinding()]
param([string[]]$Paths = @())
Set-StrictMode -Version Latest
$ErrorActionPreference = 'Stop'
$rules = @()
foreach ($path in $Paths) {
    if (Test-Path -LiteralPath $path) {
        $rules += @{ path = $path; sddl = [string](Get-Acl -LiteralPath $path).Sddl }
    }
}
Write-Result -Value @{ rules = @($rules) }
