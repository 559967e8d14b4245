# Stops services and takes them off the register; those that are not there are left out. Names: the services, those that
# depend on others first.
[CmdletBinding()]
param([string[]]$Names = @())
Set-StrictMode -Version Latest
$ErrorActionPreference = 'Stop'
$removed = @()
foreach ($name in $Names) {
    if ($null -ne (Get-Service -Name $name -ErrorAction 'SilentlyContinue')) {
        Stop-Service -Name $name -Force -WarningAction 'SilentlyContinue'
        Invoke-Native -Exe 'sc.exe' -Arguments @('delete', $name) | Out-Null
        $removed += $name
    }
}
Write-Result -Value @{ removed = @($removed) }
